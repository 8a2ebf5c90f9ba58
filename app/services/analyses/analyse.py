"""Run one analysis: take the inventory of a commit, save it, finish the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.inventories import Facts
from app.domain.jobs import Checkpoint, Summary
from app.domain.lifecycle import Delivery, Outcome
from app.services.analyses.finish import finish, save
from app.services.policy import Policy
from app.store.analyses import branch_commits, inventories
from app.store.analyses.inventories import FileRow
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import requests

#: Says of commits, by when they were made, whether they are on the default branch; open ones are missing.
Judge = Callable[[Mapping[str, datetime | None]], Mapping[str, bool]]


@dataclass(frozen=True, slots=True)
class Taken:
    """The engine's result.  files: by path, readable once; summary: totals as in the contract.

    committed_at: when the commit was made, None if Git does not say; judge: looks at the default branch, None if the
    engine cannot.
    """

    files: Iterable[FileRow]
    summary: Summary
    committed_at: datetime | None = None
    judge: Judge | None = None


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """Facts by blob, stored in the database and shared by all analyses of one parser version."""

    uow: UnitOfWork
    parser_version: str
    clock: Callable[[], datetime]

    def load(self, keys: Sequence[tuple[str, str]]) -> list[tuple[str, str, Facts]]:
        """Load the stored facts of blobs.  rows: blob_id, language, facts."""
        with self.uow.begin() as tx:
            rows = inventories.load_facts(tx, keys, self.parser_version)
        return [(row.blob_id, row.language, row.facts) for row in rows]

    def store(self, facts: Mapping[tuple[str, str], Facts]) -> None:
        """Store new facts; existing ones stay."""
        if facts:
            with self.uow.begin() as tx:
                inventories.store_facts(tx, facts, self.parser_version, now=self.clock())


def analyse(
    uow: UnitOfWork,
    delivery: Delivery,
    user_id: UUID | None,
    take: Callable[[KnownFacts, Checkpoint], Taken],
    policy: Policy,
    *,
    checkpoint: Checkpoint,
    clock: Callable[[], datetime] | None = None,
) -> Outcome:
    """Take the inventory and finish the job.  take: the engine, bound to one commit.  Raises: what the engine raises.

    clock: None = the database's.
    """
    taken = take(KnownFacts(uow, policy.parser_version, clock or uow.now), checkpoint)
    checkpoint("saving", 0, 0)
    listing = save(uow, taken.files, policy)
    checkpoint("saving", len(listing), len(listing))
    if taken.judge:
        _judge(uow, delivery.job_id, taken.committed_at, taken.judge, clock or uow.now)
    now = clock() if clock else None
    return finish(uow, delivery, user_id, listing, taken.summary, committed_at=taken.committed_at, now=now)


def _judge(
    uow: UnitOfWork, job_id: UUID, committed_at: datetime | None, judge: Judge, clock: Callable[[], datetime]
) -> None:
    """Note whether the commit is on the default branch, and whether earlier ones still are.

    This is no part of the finish: a commit is judged by its history, whichever worker looks at it.
    """
    with uow.begin() as tx:
        accepted = requests.accepted(tx, job_id)
        if accepted is None:
            return
        known = branch_commits.judged(tx, accepted.codebase_id)
    looked_at = clock()
    members = judge(known | {accepted.commit_sha: committed_at})
    with uow.begin() as tx:
        branch_commits.note(tx, accepted.codebase_id, members, now=looked_at)
