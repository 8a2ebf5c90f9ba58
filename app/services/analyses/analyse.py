"""Run one analysis: take the inventory of a commit, save it, finish the job."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.jobs import Checkpoint, Summary
from app.domain.lifecycle import Delivery, Outcome
from app.domain.objects import Objects
from app.services.analyses.finish import finish, save
from app.services.analyses.judge import LookAtBranch, judge
from app.services.analyses.known_facts import KnownFacts, load_last
from app.services.policy import Policy
from app.store.analyses.file_lists import Listing
from app.store.analyses.inventories import FileRow, ForgottenError
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


def analyse(
    uow: UnitOfWork,
    delivery: Delivery,
    user_id: UUID | None,
    take: Callable[[KnownFacts, Checkpoint], Taken],
    policy: Policy,
    *,
    checkpoint: Checkpoint,
    objects: Objects | None = None,
    clock: Callable[[], datetime] | None = None,
) -> Outcome:
    """Take the inventory and finish the job.  take: the engine, bound to one commit.  Raises: what the engine raises.

    objects: the store of what is not in the database; clock: None = the database's.
    """
    last = load_last(uow, objects, delivery.job_id, policy.parser_version)
    known = KnownFacts(uow, policy.parser_version, clock or uow.now, objects, last)
    try:
        taken, listing = _take(uow, take, known, policy, checkpoint)
    except ForgottenError:  # retention has removed it meanwhile
        taken, listing = _take(uow, take, replace(known, last=None), policy, checkpoint)
    if taken.judge:
        _judge(uow, delivery.job_id, taken.committed_at, taken.judge, clock or uow.now)
    if taken.packed is not None:  # no part of the finish, which holds the user's row
        known.keep_last(delivery.job_id, taken.packed)
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
