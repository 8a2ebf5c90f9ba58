"""Analyse viewed repositories again if their HEAD has moved or the parser is newer (docs/adr/0013)."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import uuid4

from sqlalchemy import Row

from app.domain.queues import Service, select_queue
from app.domain.repositories import Repository
from app.domain.schedule import MAX_FAILURES, is_due
from app.errors import Problem
from app.services.analyses.submission import Wanted, message_for
from app.services.policy import Policy
from app.store import analyses, codebases, events, requests
from app.store.codebases import Codebase
from app.store.requests import Request
from app.store.unit_of_work import AlreadyQueuedError, Tx, UnitOfWork

VIEWED_WITHIN = timedelta(days=91)

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


def reschedule(uow: UnitOfWork, resolve_head: ResolveHead, policy: Policy, *, now: datetime) -> Rescheduled:
    """Go through all candidates once.  Git is asked outside of any transaction; each enqueue has its own."""
    with uow.begin() as tx:
        found = codebases.candidates(tx, viewed_since=now - VIEWED_WITHIN)
    due = [codebase for codebase, seen in found if _is_due(seen, now)]
    counts = {"enqueued": 0, "unchanged": 0, "under_way": 0, "unreachable": 0}
    for codebase in due:
        counts[_one(uow, codebase, resolve_head, policy, now=now)] += 1
    return Rescheduled(due=len(due), **counts)


def _is_due(seen: Row[Any], now: datetime) -> bool:
    if seen.failures >= MAX_FAILURES:
        return False
    ended = [instant for instant in (seen.last_ended_at, seen.checked_at) if instant is not None]
    return is_due(seen.last_viewed_at, max(ended, default=None), now)


def _one(uow: UnitOfWork, codebase: Codebase, resolve_head: ResolveHead, policy: Policy, *, now: datetime) -> str:
    try:
        commit, ref = resolve_head(codebase.repository)
    except Problem:
        with uow.begin() as tx:  # check again after the interval, not every hour
            codebases.checked(tx, codebase.codebase_id, now=now)
        return "unreachable"
    with uow.begin() as tx:
        codebases.checked(tx, codebase.codebase_id, now=now)
        if ref:
            codebases.has_default_branch(tx, codebase.codebase_id, ref)
        # not only the newest: HEAD may have moved back to a commit that has an analysis
        known = analyses.completed(tx, codebase.codebase_id, commit, policy.parser_version)
    if known is not None:
        return "unchanged"
    return _enqueue(uow, codebase, Wanted(codebase.repository, commit, ref), policy, now=now)


def _enqueue(uow: UnitOfWork, codebase: Codebase, wanted: Wanted, policy: Policy, *, now: datetime) -> str:
    job_id, queue = uuid4(), select_queue(Service.ANALYSIS, None, scheduled=True)
    try:
        with uow.begin() as tx:
            tx.publish(message_for(job_id, codebase, wanted, queue=queue, user_id=None))
            requests.add(
                tx,
                Request(
                    job_id, None, "payer", codebase, wanted.commit, wanted.ref, "scheduled", queue, None, now, None
                ),
            )
            events.add(tx, job_id, "accepted", queue=queue)
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
