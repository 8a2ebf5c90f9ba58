"""Explain why jobs wait and until when."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from uuid import UUID

from app.domain import waiting
from app.domain.lifecycle import Status
from app.domain.queues import service_of
from app.domain.waiting import Line, Pace, Wait
from app.services.policy import Policy
from app.store.accounts import users
from app.store.accounts.users import Payer
from app.store.core.unit_of_work import Tx
from app.store.fairness.queue_position import lines
from app.store.jobs.messages import MessageRow


def waits(
    tx: Tx, messages: Mapping[UUID, MessageRow], statuses: Mapping[UUID, Status], policy: Policy, *, now: datetime
) -> dict[UUID, Wait]:
    """The `wait` of unfinished jobs, by job; one that runs is missing.  messages: theirs; statuses: at least theirs."""
    found = {
        job_id: waiting.paused() if message.paused_at else waiting.backing_off(message.ready_at)
        for job_id, message in messages.items()
        if statuses[job_id] is Status.RETRYING
    }
    in_line = [job_id for job_id in messages if statuses[job_id] in (Status.WAITING, Status.QUEUED)]
    stands = lines(tx, in_line, now=now) if in_line else {}
    carriers = {job_id: UUID(messages[job_id].user_id) for job_id, line in stands.items() if line.held}
    accounts = users.find_each(tx, set(carriers.values())) if carriers else {}
    for job_id, line in stands.items():
        account = accounts.get(carriers[job_id]) if line.held else None
        found[job_id] = wait_in_line(tx, line, messages[job_id].queue, account, policy, now=now)
    return found


def wait_in_line(tx: Tx, stands: Line, queue: str, account: Payer | None, policy: Policy, *, now: datetime) -> Wait:
    """The `wait` of a job in its queue.  account: its user's, None if that does not matter."""
    pace, step = _learnt(tx, stands, queue, policy, now=now)
    if not (stands.held and account):
        return waiting.ready(stands, pace)
    if stands.paused:
        return waiting.paused(stands)
    runs = account.runs.get(service_of(queue))
    return waiting.at_limit(stands, _limit(account, policy), account.tier, runs, pace, step)


def guess(tx: Tx, stands: Line, queue: str, account: Payer, policy: Policy, *, now: datetime) -> float | None:
    """The uncorrected estimate of a job's wait, in seconds; from it and the actual wait the estimator learns."""
    if not stands.held:
        return waiting.guess(stands, stands.runs, stands.workers)
    _, step = _learnt(tx, stands, queue, policy, now=now)
    return waiting.guess(stands, account.runs.get(service_of(queue)) or stands.runs, _limit(account, policy), step)


def _limit(account: Payer, policy: Policy) -> int:
    return policy.fairness.slot_limit(account.plan, account.own_slot_limit)


def _learnt(tx: Tx, stands: Line, queue: str, policy: Policy, *, now: datetime) -> tuple[Pace | None, float]:
    """Read the recent pace of the queue for such lines, and the average wait for a worker before each own job."""
    paces = policy.observed_waits.paces(tx, now=now) if policy.observed_waits else {}
    ready = paces.get((queue, False))
    return paces.get((queue, stands.held)), ready.waited if ready else 0.0
