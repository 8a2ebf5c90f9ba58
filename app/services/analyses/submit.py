"""Accept an analysis: check, reserve and enqueue in one transaction, or do nothing (docs/adr/0005)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import overload
from uuid import UUID, uuid4

from app.domain.jobs import EventFacts
from app.domain.queues import Service, select_queue
from app.domain.repositories import Repository
from app.domain.waiting import Line, Wait
from app.errors import IdempotencyInFlight, NotFound
from app.services.fairness import choose_carrier, explain_wait
from app.services.jobs import admit, describe
from app.services.jobs.answers import Answer, Key, keep_answer, same_request
from app.services.policy import Policy
from app.store import analyses, codebases, events, messages, requests
from app.store.accept_lookup import ExistingAnalyses, look
from app.store.codebases import Codebase
from app.store.idempotency import Stored
from app.store.queue_position import place
from app.store.requests import Request
from app.store.unit_of_work import AlreadyQueuedError, JobMessage, OvertakenError, Tx, UnitOfWork, retried
from app.store.users import Account

ANALYSE = "tasks.analysis.analyse"

ANALYSIS = Service.ANALYSIS.event_type


@dataclass(frozen=True, slots=True)
class Wanted:
    """A submission whose commit is resolved.

    retry: start again if the last run failed; default_branch: the branch of HEAD, if it was looked up.
    """

    repository: Repository
    commit: str
    ref: str | None = None
    retry: bool = False
    default_branch: str | None = None


@overload
def submit(uow: UnitOfWork, user_id: UUID, wanted: Wanted, policy: Policy, *, now: datetime | None = ...) -> Answer: ...
@overload
def submit(
    uow: UnitOfWork,
    user_id: UUID,
    wanted: Wanted,
    policy: Policy,
    *,
    key: Key[Answer] | None,
    now: datetime | None = ...,
) -> Answer | Stored: ...
@retried
def submit(
    uow: UnitOfWork,
    user_id: UUID,
    wanted: Wanted,
    policy: Policy,
    *,
    key: Key[Answer] | None = None,
    now: datetime | None = None,
) -> Answer | Stored:
    """Reserve one analysis and enqueue it, join the one under way, or return the existing one.

    key: the answer is stored under it in the same transaction; one that was stored before is returned as it is.
    now: None = by the database.
    Locks: users row.  Raises: QuotaExceeded, IdempotencyInFlight, IdempotencyMismatch, NotFound.
    """
    with uow.begin() as tx:
        # two submissions of one user wait for each other here
        found = look(
            tx, user_id, key.name if key else None, wanted.repository, wanted.commit, policy.parser_version, now=now
        )
        now = found.now
        if not found.key_locked:
            raise IdempotencyInFlight(retry_after=1)
        if key and (stored := same_request(found.stored, key)):
            return stored
        if found.account is None:
            raise NotFound("The account no longer exists")
        answer = accept(tx, found.account, found.existing, wanted, policy, now=now)
        keep_answer(tx, user_id, key, answer, now=now)
        return answer


def accept(
    tx: Tx, account: Account, found: ExistingAnalyses, wanted: Wanted, policy: Policy, *, now: datetime
) -> Answer:
    """Decide one submission in the transaction of the caller, which has locked the user's row and looked up the commit.

    Locks: the message of the job it joins, after the users row.  Raises: QuotaExceeded; OvertakenError.
    """
    codebase = found.codebase or codebases.add(tx, wanted.repository, now=now)
    codebases.asked_for(tx, codebase, now=now)
    if wanted.default_branch:
        codebases.has_default_branch(tx, codebase.codebase_id, wanted.default_branch)
    if found.running:
        return _join_or_look_again(tx, found.running, account, codebase, wanted, policy, now=now)
    # a failure stays visible until a user sends "retry", so that polling does not start the job again
    if known := found.completed or (None if wanted.retry else found.failed):
        if not analyses.lock_shared(tx, known):  # it was pruned since our look-up
            raise OvertakenError
        requests.add(tx, _request(known, "cached", account, codebase, wanted, now=now))
        return Answer(describe.job(tx, known, policy, asker=account.user_id, now=now), is_known=True)
    seen = admit.check(tx, account, ANALYSIS, policy, units=1, sums=found.sums, now=now)
    request = _request(uuid4(), "payer", account, codebase, wanted, now=now)
    try:
        message = message_for(request.job_id, codebase, wanted, queue=request.queue, user_id=account.user_id)
        tx.publish(_shared(message, account, policy))
    except AlreadyQueuedError as other:
        return _join_or_look_again(tx, other.job_id, account, codebase, wanted, policy, now=now)
    admitted = admit.reserve(tx, account, ANALYSIS, request.job_id, seen, policy, units=1, now=now)
    requests.add(tx, request)
    stands = place(tx, request.job_id, codebase.codebase_id, request.commit_sha, policy.parser_version, now=now)
    wait = explain_wait.wait_in_line(tx, stands, request.queue, account, policy, now=now) if stands else None
    promised = _promised(tx, request, stands, wait, account, policy, now=now)
    events.add(tx, request.job_id, "accepted", queue=request.queue, tier=account.tier, quota=admitted, **promised)
    return Answer(describe.fresh(tx, request, stands, wait))


def _promised(
    tx: Tx,
    request: Request,
    stands: Line | None,
    wait: Wait | None,
    account: Account,
    policy: Policy,
    *,
    now: datetime,
) -> EventFacts:
    """The promised start in seconds.

    When the job starts, it is compared with the actual wait, and the estimator learns.
    """
    if not stands or not wait or wait.eta_high is None:
        return {"eta": None}
    guessed = explain_wait.guess(tx, stands, request.queue, account, policy, now=now)
    return {"eta": [wait.eta_low, wait.eta_high], "held": stands.held, "guess": guessed and round(guessed, 2)}


def _join_or_look_again(
    tx: Tx, running: UUID, account: Account, codebase: Codebase, wanted: Wanted, policy: Policy, *, now: datetime
) -> Answer:
    if not messages.lock_shared(tx, running):  # the job ended meanwhile: look up how
        found = look(tx, account.user_id, None, wanted.repository, wanted.commit, policy.parser_version, now=now)
        return accept(tx, account, found.existing, wanted, policy, now=now)
    _join(tx, running, account, codebase, wanted, policy, now=now)
    return Answer(describe.job(tx, running, policy, asker=account.user_id, now=now))


def message_for(job_id: UUID, codebase: Codebase, wanted: Wanted, *, queue: str, user_id: UUID | None) -> JobMessage:
    """The message of an analysis.  It contains no limit, because that is read when the job starts (docs/adr/0003)."""
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


def _shared(message: JobMessage, account: Account, policy: Policy) -> JobMessage:
    """Add the user's share of the queue, and how many of their jobs may be ready at once (docs/adr/0026)."""
    fair = policy.fairness
    ready = fair.most_ready(account.plan, account.own_slot_limit)
    return replace(message, step=account.step(Service.ANALYSIS), most_ready=ready)


def _join(
    tx: Tx, job_id: UUID, account: Account, codebase: Codebase, wanted: Wanted, policy: Policy, *, now: datetime
) -> None:
    """Join an unfinished job.  The caller has locked its message, so no cancel can end it before it sees us."""
    accepted = requests.accepted(tx, job_id)
    if accepted and accepted.user_id == account.user_id:
        # a payer who had left pays again, so that leaving and coming back does not make an analysis free
        if accepted.cancelled_at is not None:
            seen = admit.check(tx, account, ANALYSIS, policy, units=1, now=now)
            admitted = admit.reserve(tx, account, ANALYSIS, job_id, seen, policy, units=1, now=now)
            requests.take_back(tx, job_id, account.user_id)
            events.add(tx, job_id, "payer_came_back", quota=admitted)
            choose_carrier.joined(tx, job_id, account, policy)
    elif not requests.asked(tx, job_id, account.user_id):
        requests.add(tx, _request(job_id, "joined", account, codebase, wanted, now=now))
        events.add(tx, job_id, "joined")
        choose_carrier.joined(tx, job_id, account, policy)


def _request(
    job_id: UUID, role: str, account: Account, codebase: Codebase, wanted: Wanted, *, now: datetime
) -> Request:
    trigger = "anonymous" if account.is_anonymous else "user"
    queue = select_queue(Service.ANALYSIS, account.tier)
    return Request(
        job_id, account.user_id, role, codebase, wanted.commit, wanted.ref, trigger, queue, account.tier, now,
        account.plan.retention_days,
    )  # fmt: skip
