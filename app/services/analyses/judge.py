"""Find out which commits of a repository are on its default branch, and look again when it may have moved."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from app.domain.branches import places
from app.domain.queues import Service, select_queue
from app.domain.repositories import Repository
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage, Tx, UnitOfWork
from app.store.repositories import branch_commits, codebases

LOOK = "tasks.analysis.look"
#: What nobody waits for, and where Git may be run.
QUEUE = select_queue(Service.ANALYSIS, None, scheduled=True)
#: The time between two looks at a repository that accepts ask for.
APART = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Branch:
    """The default branch.  name: None if HEAD names none.

    members: whether commits are on it, those that are in the order of its history, newest first; open ones are missing.
    """

    name: str | None
    members: Mapping[str, bool]


#: Looks for commits, by when they were made, on the default branch.
LookAtBranch = Callable[[Mapping[str, datetime | None]], Branch]


def look_again(tx: Tx, codebase_id: UUID, commit: str, *, now: datetime) -> None:
    """Ask for a look at HEAD, because this commit was submitted, has a result, and is not known to be the newest one.

    The message has no user: it reserves nothing and takes no slot.  Of a repository one waits at most, until a minute
    after the last look began (docs/adr/0067).
    """
    last = branch_commits.stale(tx, codebase_id, commit)
    if last is None:
        return
    wait = max(timedelta(0), last.looked_at + APART - now) if last.looked_at else timedelta(0)
    arguments = {"codebase_id": str(codebase_id), "commit": commit}
    with suppress(AlreadyQueuedError):
        tx.publish(JobMessage(uuid4(), LOOK, QUEUE, arguments, unique_key=last.key, delay=wait))


def look(
    uow: UnitOfWork, codebase_id: UUID, commit: str, look_of: Callable[[Repository], LookAtBranch], *, now: datetime
) -> None:
    """Judge the commits of a repository, if it still exists.  now: before the call.  Raises: what look_of does."""
    with uow.once() as tx:
        codebase = codebases.get(tx, codebase_id)
    if codebase is not None:
        judge(uow, codebase_id, commit, None, look_of(codebase.repository), now=now)


def judge(
    uow: UnitOfWork, codebase_id: UUID, commit: str, committed_at: datetime | None, look: LookAtBranch, *, now: datetime
) -> None:
    """Note where a commit stands on the default branch, and whether earlier ones still are on it.

    committed_at: of a commit without a result; now: before the branch is looked at.
    Locks: the repository's row, twice; the rows of commits that change, in the order of commits.
    """
    with uow.begin() as tx:
        branch_commits.begin_look(tx, codebase_id, now=now)
        known = branch_commits.judged(tx, codebase_id, commit)
    made = {commit: committed_at} | {row.commit_sha: row.committed_at for row in known}
    found = look(made)
    stood = {row.commit_sha: row.ordered_at or row.committed_at for row in known}
    stands = places(found.members, {one: stood.get(one) or made[one] or now for one in found.members})
    with uow.begin() as tx:
        if found.name:
            codebases.has_default_branch(tx, codebase_id, found.name)
        branch_commits.note(tx, codebase_id, stands, now=now)
