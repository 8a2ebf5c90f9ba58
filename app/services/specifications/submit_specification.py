"""Accept a specification: count its stored sentences, and reserve the others in the transaction of the message.

This works as for an analysis (submit.py), except that nobody joins the job: a document belongs to its owner alone
(docs/adr/0047).
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime
from typing import overload
from uuid import UUID, uuid4

from app.domain.lifecycle import JobFailedError
from app.domain.queues import Service
from app.domain.specification import Mode
from app.errors import Conflict, Forbidden, InvalidInput, Message, NotFound
from app.services.accounts.usage import AskedUnits, check
from app.services.fairness import explain_wait
from app.services.jobs import admit, describe
from app.services.jobs.answers import Answer, Key, keep_answer, locked_answer
from app.services.jobs.note_accepts import Accepted, note_accepts
from app.services.jobs.submission import Submission
from app.services.jobs.visibility import check_visible
from app.services.policy import Policy
from app.services.specifications.price import Priced, priced
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.analyses import analyses
from app.store.core.unit_of_work import AlreadyQueuedError, OvertakenError, Tx, UnitOfWork, retried
from app.store.fairness.queue_position import line
from app.store.jobs import requests
from app.store.jobs.idempotency import Stored
from app.store.repositories import codebases
from app.store.specifications import spec_documents
from app.store.specifications.spec_documents import NewestRow

SPECVIEW = Service.SPECVIEW.event_type


@dataclass(frozen=True, slots=True)
class WantedSpecification:
    """A submission of a specification."""

    analysis_id: UUID
    language: str = "en"
    mode: Mode = Mode.INITIAL


@dataclass(frozen=True, slots=True)
class Price:
    """The most that a specification would cost now.  tests, subtests: numbers in its analysis."""

    tests: int
    subtests: int
    units: AskedUnits


@dataclass(frozen=True, slots=True)
class _Counted:
    """A submission with the most that it would cost.  says: the fingerprint of a document from stored words alone."""

    wanted: WantedSpecification
    units: int
    says: bytes | None

    def is_answered_by(self, newest: NewestRow, generator: str) -> bool:
        """Whether the newest document is what was asked for."""
        if self.wanted.mode is Mode.REGENERATE_CACHED:
            return self.says is not None and (self.says, generator) == (_hash(newest), newest.generator)
        return self.wanted.mode is Mode.INITIAL


@overload
def submit(
    uow: UnitOfWork, account: Account, wanted: WantedSpecification, policy: Policy, *, now: datetime | None = ...
) -> Answer: ...
@overload
def submit(
    uow: UnitOfWork,
    account: Account,
    wanted: WantedSpecification,
    policy: Policy,
    *,
    key: Key[Answer] | None,
    now: datetime | None = ...,
) -> Answer | Stored: ...
def submit(
    uow: UnitOfWork,
    account: Account,
    wanted: WantedSpecification,
    policy: Policy,
    *,
    key: Key[Answer] | None = None,
    now: datetime | None = None,
) -> Answer | Stored:
    """Reserve the missing sentences and enqueue; or return the job under way or an existing document.

    An existing document is returned in the mode `initial`, and in `regenerate_cached` if a new one would say the same.
    The built-in generator does the same in `regenerate_fresh`.  key: as of submit.submit; now: None = by the database.
    Locks: users row.  Raises: QuotaExceeded, IdempotencyInFlight, IdempotencyMismatch, NotFound, Forbidden, Conflict if
    the analysis has not completed, InvalidInput for a language that the generator does not write.
    """
    tests = read_tests(uow, account, wanted, policy)
    # before the user's row is locked, because this takes time in proportion to the analysis
    mode = wanted.mode.by(policy.generator)
    units = tests.units(uow, account.user_id, wanted.language, mode, policy)
    is_kept = mode is Mode.REGENERATE_CACHED and not units
    says = tests.says(uow, account.user_id, wanted.language, policy) if is_kept else None
    counted = _Counted(replace(wanted, mode=mode), units, says)
    return _accept(uow, account.user_id, counted, policy, key=key, now=now)


def dry_run(uow: UnitOfWork, account: Account, wanted: WantedSpecification, policy: Policy) -> Price:
    """The price now, and whether the quota covers it; reserves nothing.  Raises: as submit, without QuotaExceeded."""
    tests = read_tests(uow, account, wanted, policy)
    units = tests.units(uow, account.user_id, wanted.language, wanted.mode, policy)
    return Price(tests.total, tests.subtests, check(uow, account, SPECVIEW, units, now=uow.now()))


def read_tests(uow: UnitOfWork, account: Account, wanted: WantedSpecification, policy: Policy) -> Priced:
    """The analysis from which a specification would be written.  Raises: as dry_run."""
    if account.is_anonymous:
        raise Forbidden("A specification belongs to an account; sign in first")
    if wanted.language not in policy.languages:
        allowed = ", ".join(f"{code} ({name})" for code, name in policy.languages.items())
        raise InvalidInput(
            Message("unknown language %(language)s", language=repr(wanted.language)),
            errors=[{"pointer": "/language", "detail": f"expected one of {allowed}"}],
        )
    with uow.begin() as tx:
        check_visible(tx, wanted.analysis_id, account, Service.ANALYSIS)
        record = analyses.find(tx, wanted.analysis_id)
    status = record.status if record else "queued"
    if status != "completed":
        if status in ("failed", "cancelled"):
            raise Conflict(Message("The analysis is %(status)s: it has no tests to describe", status=status))
        raise Conflict(Message("The analysis is %(status)s: wait until it has completed", status=status))
    try:
        return priced(uow, wanted.analysis_id)
    except JobFailedError as error:
        raise NotFound(error.failure.message) from error


@retried
def _accept(
    uow: UnitOfWork,
    user_id: UUID,
    counted: _Counted,
    policy: Policy,
    *,
    key: Key[Answer] | None,
    now: datetime | None,
) -> Answer | Stored:
    with uow.begin() as tx:
        if key and (stored := locked_answer(tx, user_id, key)):
            return stored
        account = users.lock(tx, user_id)  # two submissions of one user wait for each other here
        if account is None:
            raise NotFound("The account no longer exists")
        at = now or uow.now()
        answer = _decide(tx, account, counted, policy, now=at)
        keep_answer(tx, user_id, key, answer, now=at)
        return answer


def _decide(tx: Tx, account: Account, counted: _Counted, policy: Policy, *, now: datetime) -> Answer:
    wanted = counted.wanted
    unique = spec_documents.unique_key(account.user_id, wanted.analysis_id, wanted.language)
    if running := spec_documents.running(tx, unique):
        return Answer(describe.job(tx, running, policy, asker=account.user_id, now=now))
    there = spec_documents.newest(tx, account.user_id, wanted.analysis_id, wanted.language)
    if there and counted.is_answered_by(there, policy.generator):
        return Answer(describe.job(tx, there.id, policy, asker=account.user_id, now=now), is_known=True)
    return _enqueue(tx, account, counted, unique, policy, now=now)


def _enqueue(
    tx: Tx,
    account: Account,
    counted: _Counted,
    unique_key: str,
    policy: Policy,
    *,
    now: datetime,
) -> Answer:
    wanted, units = counted.wanted, counted.units
    accepted = requests.accepted(tx, wanted.analysis_id)
    codebase = codebases.get(tx, accepted.codebase_id) if accepted else None
    if accepted is None or codebase is None:
        raise NotFound("No such job")
    seen = admit.check(tx, account, SPECVIEW, policy, units=units, now=now)
    submission = Submission(
        Service.SPECVIEW, account, codebase, accepted.commit_sha, accepted.ref, Service.SPECVIEW.task,
        {"user_id": str(account.user_id)}, unique_key, policy, now,
    )  # fmt: skip
    request = submission.request(uuid4(), "payer")
    try:
        tx.publish(submission.message(request.job_id, request.queue))
    except AlreadyQueuedError as other:  # by an operator's redrive, which does not lock the user
        raise OvertakenError from other
    admitted = admit.reserve(tx, account, SPECVIEW, request.job_id, seen, policy, units=units, now=now)
    requests.add(tx, request)
    spec_documents.ask(
        tx,
        request.job_id,
        user_id=account.user_id,
        analysis_id=wanted.analysis_id,
        language=wanted.language,
        mode=wanted.mode,
    )
    stands = line(tx, request.job_id, now=now)
    wait = explain_wait.wait_in_line(tx, stands, request.queue, account, policy, now=now) if stands else None
    facts = {"queue": request.queue, "tier": account.tier, "quota": admitted, "eta": None}
    note_accepts(tx, [Accepted(request, units, facts)])
    return Answer(describe.fresh(tx, request, stands, wait))


def _hash(newest: NewestRow) -> bytes | None:
    return None if newest.words_hash is None else bytes(newest.words_hash)
