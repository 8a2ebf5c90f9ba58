"""Run one analysis: take the inventory of a commit, save it, finish the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.inventories import Facts
from app.domain.jobs import Checkpoint, Summary
from app.domain.lifecycle import Delivery, Outcome
from app.services.analyses.finish import finish, save
from app.services.analyses.judge import LookAtBranch, judge
from app.services.policy import Policy
from app.store.analyses import inventories, last_inventories
from app.store.analyses.file_lists import Listing
from app.store.analyses.inventories import FileRow, ForgottenError
from app.store.analyses.last_inventories import LastInventory
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import requests


@dataclass(frozen=True, slots=True)
class Taken:
    """The engine's result.  files: by path, readable once; summary: totals as in the contract.

    committed_at: when the commit was made, None if Git does not say; judge: looks at the default branch, None if the
    engine cannot; packed: for the next analysis of the repository, None if it would not help.
    """

    files: Iterable[FileRow]
    summary: Summary
    committed_at: datetime | None = None
    judge: LookAtBranch | None = None
    packed: bytes | None = None


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """Facts by blob, stored in the database and shared by all analyses of one parser version.

    last: the inventory of an earlier commit of the repository.
    """

    uow: UnitOfWork
    parser_version: str
    clock: Callable[[], datetime]
    last: LastInventory | None = None

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
    with uow.begin() as tx:
        last = last_inventories.load(tx, delivery.job_id, policy.parser_version)
    known = KnownFacts(uow, policy.parser_version, clock or uow.now, last)
    try:
        taken, listing = _take(uow, take, known, policy, checkpoint)
    except ForgottenError:  # retention has removed it meanwhile
        taken, listing = _take(uow, take, replace(known, last=None), policy, checkpoint)
    if taken.judge:
        _judge(uow, delivery.job_id, taken.committed_at, taken.judge, clock or uow.now)
    if taken.packed is not None:  # no part of the finish, which holds the user's row
        with uow.begin() as tx:
            last_inventories.keep(tx, delivery.job_id, taken.packed)
    now = clock() if clock else None
    return finish(uow, delivery, user_id, listing, taken.summary, committed_at=taken.committed_at, now=now)


def _take(
    uow: UnitOfWork,
    take: Callable[[KnownFacts, Checkpoint], Taken],
    known: KnownFacts,
    policy: Policy,
    checkpoint: Checkpoint,
) -> tuple[Taken, Listing]:
    """Take the inventory and save its files.  Raises: ForgottenError, and what the engine raises."""
    taken = take(known, checkpoint)
    checkpoint("saving", 0, 0)
    listing = save(uow, taken.files, policy)
    checkpoint("saving", len(listing), len(listing))
    return taken, listing


def _judge(
    uow: UnitOfWork, job_id: UUID, committed_at: datetime | None, look: LookAtBranch, clock: Callable[[], datetime]
) -> None:
    # this is no part of the finish: a commit is judged by its history, whichever worker looks at it
    with uow.begin() as tx:
        accepted = requests.accepted(tx, job_id)
    if accepted is not None:
        judge(uow, accepted.codebase_id, accepted.commit_sha, committed_at, look, now=clock())
