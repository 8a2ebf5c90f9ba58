"""Analyse viewed repositories again if their HEAD has moved or the parser is newer (docs/adr/0013)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID, uuid4

from app.domain.queues import Service, select_queue
from app.domain.repositories import Repository
from app.domain.schedule import MAX_FAILURES, is_due
from app.errors import Problem
from app.services.analyses.ask_hosts import ask_hosts
from app.services.analyses.judge import look_again
from app.services.analyses.submission import Wanted, arguments_of
from app.services.jobs.note_accepts import Accepted, note_accepts
from app.services.policy import Policy
from app.store.analyses import analyses
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage, Tx, UnitOfWork
from app.store.jobs import requests
from app.store.jobs.requests import Request
from app.store.repositories import branch_commits, codebases
from app.store.repositories.codebases import Codebase

VIEWED_WITHIN = timedelta(days=91)
#: Repositories that one statement reads.
BATCH = 500

#: (repository) -> (commit of HEAD, its branch).  Raises a Problem if the host does not answer.
ResolveHead = Callable[[Repository], tuple[str, str | None]]


@dataclass(frozen=True, slots=True)
class Rescheduled:
    """How many repositories were due, enqueued, unchanged, already under way, or without an answer."""

    due: int = 0
    enqueued: int = 0
    unchanged: int = 0
    under_way: int = 0
    unreachable: int = 0


def never() -> bool:
    """Tell that time is never over, for a run without a limit."""
    return False


def reschedule(
    uow: UnitOfWork,
    resolve_head: ResolveHead,
    policy: Policy,
    *,
    now: datetime,
    expired: Callable[[], bool] = never,
) -> Rescheduled:
    """Go through all candidates once.  Git is asked outside of any transaction; each enqueue has its own.

    Several hosts are asked at once, in threads; the database is only used by the caller's.  expired: whether to ask no
    further host; those that were asked are not due in the next run, which therefore continues.
    """
    counts = Counter[str]()
    with uow.once() as tx:
        hosts = codebases.hosts(tx)
    waiting = {host: due(uow, host, now=now) for host in hosts}
    for codebase, answer in ask_hosts(waiting, lambda one: _head(resolve_head, one), expired):
        counts[_one(uow, codebase, answer, policy, now=now)] += 1
    return Rescheduled(due=counts.total(), **counts)


def due(uow: UnitOfWork, host: str, *, now: datetime) -> Iterator[Codebase]:
    """The repositories of a host that are due, the last viewed first, read in batches by an index."""
    last: Codebase | None = None
    while True:
        with uow.once() as tx:
            found = codebases.viewed_before(tx, host, last, viewed_since=now - VIEWED_WITHIN, most=BATCH)
        if not found:
            return
        last = found[-1][0]
        unchecked = [one for one, checked_at in found if _is_due(one, checked_at, now)]
        with uow.once() as tx:
            ends = codebases.ends(tx, [one.codebase_id for one in unchecked], most=MAX_FAILURES)
        for one in unchecked:
            ended = ends[one.codebase_id]
            if ended.failures < MAX_FAILURES and _is_due(one, ended.last_ended_at, now):
                yield one


def _is_due(codebase: Codebase, since: datetime | None, now: datetime) -> bool:
    return codebase.last_viewed_at is not None and is_due(codebase.last_viewed_at, since, now)


def _head(resolve_head: ResolveHead, codebase: Codebase) -> tuple[str, str | None] | None:
    """The commit of HEAD and its branch; None if the host does not answer."""
    try:
        return resolve_head(codebase.repository)
    except Problem:
        return None


def _one(
    uow: UnitOfWork, codebase: Codebase, head: tuple[str, str | None] | None, policy: Policy, *, now: datetime
) -> str:
    if head is None:
        with uow.begin() as tx:  # check again after the interval, not every hour
            codebases.checked(tx, codebase.codebase_id, now=now)
        return "unreachable"
    commit, ref = head
    with uow.begin() as tx:
        codebases.checked(tx, codebase.codebase_id, now=now)
        if ref:
            codebases.has_default_branch(tx, codebase.codebase_id, ref)
        # not only the newest: HEAD may have moved back to a commit that has an analysis
        known = analyses.completed(tx, codebase.codebase_id, commit, policy.parser_version)
        if known is not None and ref:
            look_again(tx, codebase.codebase_id, commit, now=now)
            branch_commits.note_head(tx, codebase.codebase_id, known.id, now=now)
    if known is not None:
        return "unchanged"
    return _enqueue(uow, codebase, Wanted(codebase.repository, commit, ref), policy, now=now)


def _message(job_id: UUID, queue: str, codebase: Codebase, commit: str) -> JobMessage:
    arguments, key = arguments_of(codebase, commit, None), codebase.repository.unique_key(commit)
    return JobMessage(job_id, Service.ANALYSIS.task, queue, arguments, unique_key=key)


def _enqueue(uow: UnitOfWork, codebase: Codebase, wanted: Wanted, policy: Policy, *, now: datetime) -> str:
    job_id, queue = uuid4(), select_queue(Service.ANALYSIS, None, scheduled=True)
    try:
        with uow.begin() as tx:
            tx.publish(_message(job_id, queue, codebase, wanted.commit))
            request = Request(
                job_id, None, "payer", codebase, wanted.commit, wanted.ref, "scheduled", queue, None, now, None
            )
            requests.add(tx, request)
            note_accepts(tx, [Accepted(request, 0, {"queue": queue})])
            # a user's job may have completed since our look-up, and freed the key
            _recheck(tx, codebase, wanted, policy)
    except AlreadyQueuedError:
        return "under_way"
    return "enqueued"


def _recheck(tx: Tx, codebase: Codebase, wanted: Wanted, policy: Policy) -> None:
    """Look up again while holding the unique key.  Raises: AlreadyQueuedError, which undoes the publish."""
    done = analyses.completed(tx, codebase.codebase_id, wanted.commit, policy.parser_version)
    if done is not None:
        raise AlreadyQueuedError(done.id)
