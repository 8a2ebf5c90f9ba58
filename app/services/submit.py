"""Accept an analysis: check, reserve and enqueue in one transaction, or do nothing (docs/adr/0005)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from app.domain.queues import Service, select_queue
from app.domain.repositories import Repository
from app.errors import IdempotencyInFlight, IdempotencyMismatch, NotFound, QuotaExceeded
from app.services import describe
from app.services.policy import Policy
from app.store import analyses, codebases, events, idempotency, messages, quota, requests, users
from app.store.codebases import Codebase
from app.store.unit_of_work import AlreadyQueuedError, JobMessage, Tx, UnitOfWork, retried
from app.store.users import Account

ANALYSE = "tasks.analysis.analyse"

ACCEPTED, KNOWN = 202, 200


@dataclass(frozen=True, slots=True)
class Wanted:
    """What somebody asks for: the commit is resolved already.  retry: start again although the last run failed."""

    repository: Repository
    commit: str
    ref: str | None = None
    retry: bool = False


@dataclass(frozen=True, slots=True)
class Answer:
    """status: 202 accepted or joined, 200 there already; job: as in the contract."""

    status: int
    job: dict[str, Any]
    replayed: bool = False


@retried
def submit(
    uow: UnitOfWork,
    user_id: UUID,
    wanted: Wanted,
    policy: Policy,
    *,
    key: tuple[str, bytes] | None = None,
    now: datetime,
) -> Answer:
    """Reserve one analysis and enqueue it, join the one under way, or point at the one that is there.

    key: Idempotency-Key and the fingerprint of the request; the answer is stored in this very transaction.
    Locks: users row.  Raises: QuotaExceeded, IdempotencyInFlight, IdempotencyMismatch, NotFound.
    """
    with uow.begin() as tx:
        if key and (stored := _replay(tx, user_id, *key)):
            return stored
        account = users.lock(tx, user_id)  # two submissions of one user queue up here
        if account is None:
            raise NotFound("The account is gone")
        status, job_id = accept(tx, account, wanted, policy, now=now)
        answer = Answer(status, describe.job(tx, job_id, policy, now=now))
        if key:
            stored_answer = idempotency.Stored(key[1], answer.status, answer.job)
            idempotency.add(tx, user_id, key[0], stored_answer, now=now)
        return answer


def accept(tx: Tx, account: Account, wanted: Wanted, policy: Policy, *, now: datetime) -> tuple[int, UUID]:
    """Decide one submission inside the caller's transaction, who holds the user's row.  Returns status and job id.

    Locks: the message of the job it joins, after the users row.
    """
    codebase = codebases.ensure(tx, wanted.repository, viewed_now=True, now=now)
    # in flight before finished: a job that ends between the two reads is then seen by the second one
    running = messages.job_with(tx, wanted.repository.unique_key(wanted.commit))
    if running and messages.hold(tx, running):
        return _join(tx, running, account, codebase, wanted, policy, now=now)
    if known := _known(tx, codebase, wanted, policy):
        _remember(tx, known, "cached", account, codebase, wanted, now=now)
        return KNOWN, known
    job_id = uuid4()
    try:
        with tx.savepoint():
            admitted = _admit(tx, account, job_id, policy, now=now)
            _enqueue(tx, account, job_id, codebase, wanted, admitted, now=now)
            recheck(tx, codebase, wanted, policy)
    except AlreadyQueuedError as other:
        if not messages.hold(tx, other.job_id):
            return accept(tx, account, wanted, policy, now=now)  # it ended meanwhile: look what became of it
        return _join(tx, other.job_id, account, codebase, wanted, policy, now=now)
    return ACCEPTED, job_id


def stored_answer(tx: Tx, user_id: UUID, key: str, fingerprint: bytes) -> Answer | None:
    """The answer given under a key before; None when there is none.  Raises: IdempotencyMismatch."""
    stored = idempotency.find(tx, user_id, key)
    if stored is None:
        return None
    if stored.fingerprint != fingerprint:
        raise IdempotencyMismatch("This Idempotency-Key came with another request before; use a new key per request.")
    return Answer(stored.status, stored.body, replayed=True)


def _replay(tx: Tx, user_id: UUID, key: str, fingerprint: bytes) -> Answer | None:
    if not idempotency.claim(tx, user_id, key):
        raise IdempotencyInFlight(retry_after=1)
    return stored_answer(tx, user_id, key, fingerprint)


def _known(tx: Tx, codebase: Codebase, wanted: Wanted, policy: Policy) -> UUID | None:
    done = analyses.completed(tx, codebase.codebase_id, wanted.commit, policy.parser_version)
    if done is None and not wanted.retry:
        # a failure stays visible until somebody says "retry": polling must not start it again
        done = analyses.last_failed(tx, codebase.codebase_id, wanted.commit, policy.parser_version)
    return done.id if done is not None else None


def _admit(tx: Tx, account: Account, job_id: UUID, policy: Policy, *, now: datetime) -> dict[str, object]:
    """Check and reserve.  Returns what was seen and held, by which the audit judges this accept for ever after."""
    if policy.quota_mode == "off":
        return {"mode": "off", "units": 0}
    event_type, period = Service.ANALYSIS.event_type, account.period(now)
    usage = quota.usage(tx, account.user_id, event_type, period, account.plan.limit(event_type))
    if not usage.admits(1):
        if policy.quota_mode == "enforce":
            raise QuotaExceeded(
                f"{usage.used} used and {usage.reserved} reserved of {usage.limit} analyses in this period.",
                used=usage.used,
                reserved=usage.reserved,
                limit=usage.limit,
                resets_at=period.end.isoformat(),
            )
        events.add(tx, job_id, "quota_shadow")
    quota.reserve(
        tx,
        user_id=account.user_id,
        event_type=event_type,
        amount=1,
        job_id=job_id,
        now=now,
        ttl=policy.reservation_ttl,
    )
    seen = {"used": usage.used, "reserved": usage.reserved, "limit": usage.limit}
    return {"mode": policy.quota_mode, "units": 1, **seen, "at": now, "period": period.start}


def recheck(tx: Tx, codebase: Codebase, wanted: Wanted, policy: Policy) -> None:
    """Holding the unique key, look again: another job may have completed after we looked, and let go of the key.

    Raises: AlreadyQueuedError with that job.
    """
    done = analyses.completed(tx, codebase.codebase_id, wanted.commit, policy.parser_version)
    if done is not None:
        raise AlreadyQueuedError(done.id)


def _enqueue(
    tx: Tx,
    account: Account,
    job_id: UUID,
    codebase: Codebase,
    wanted: Wanted,
    admitted: dict[str, object],
    *,
    now: datetime,
) -> None:
    queue = select_queue(Service.ANALYSIS, account.tier)
    _remember(tx, job_id, "payer", account, codebase, wanted, now=now)
    tx.publish(message_for(job_id, codebase, wanted, queue=queue, user_id=account.user_id))
    events.add(tx, job_id, "accepted", queue=queue, tier=account.tier, quota=admitted)


def message_for(job_id: UUID, codebase: Codebase, wanted: Wanted, *, queue: str, user_id: UUID | None) -> JobMessage:
    """The message of an analysis.  It carries no tier: that is read when the job starts (docs/adr/0003)."""
    where = codebase.repository
    return JobMessage(
        job_id=job_id,
        task=ANALYSE,
        queue=queue,
        kwargs={
            "host": where.host,
            "owner": where.owner,
            "name": where.name,
            "commit": wanted.commit,
            "user_id": str(user_id) if user_id else None,
        },
        user_id=user_id,
        unique_key=where.unique_key(wanted.commit),
    )


def _join(
    tx: Tx, job_id: UUID, account: Account, codebase: Codebase, wanted: Wanted, policy: Policy, *, now: datetime
) -> tuple[int, UUID]:
    """Take part in an unfinished job.  The caller holds its message: a cancel cannot end it before it sees us."""
    accepted = requests.accepted(tx, job_id)
    if accepted and accepted.user_id == account.user_id:
        # a payer who had left pays again: leaving and coming back must not make an analysis free
        if accepted.cancelled_at is not None:
            admitted = _admit(tx, account, job_id, policy, now=now)
            requests.take_back(tx, job_id, account.user_id)
            events.add(tx, job_id, "payer_came_back", quota=admitted)
    elif not requests.asked(tx, job_id, account.user_id):
        _remember(tx, job_id, "joined", account, codebase, wanted, now=now)
        events.add(tx, job_id, "joined")
    return ACCEPTED, job_id


def _remember(
    tx: Tx, job_id: UUID, role: str, account: Account, codebase: Codebase, wanted: Wanted, *, now: datetime
) -> None:
    requests.add(
        tx,
        job_id=job_id,
        user_id=account.user_id,
        role=role,
        codebase_id=codebase.codebase_id,
        commit=wanted.commit,
        ref=wanted.ref,
        trigger="anonymous" if account.is_anonymous else "user",
        queue=select_queue(Service.ANALYSIS, account.tier),
        tier=account.tier,
        retention_days=account.plan.retention_days,
        now=now,
    )
