"""Decide one submission: join what runs, point at what exists, or reserve and enqueue (docs/adr/0005)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID, uuid4

from app.domain.jobs import EventFacts
from app.domain.waiting import Line, Wait
from app.services.analyses.join import join
from app.services.analyses.submission import ANALYSIS, Submission, Wanted
from app.services.fairness import explain_wait
from app.services.jobs import admit, describe
from app.services.jobs.answers import Answer
from app.services.policy import Policy
from app.store import analyses, codebases, events, requests
from app.store.accept_lookup import ExistingAnalyses, look
from app.store.queue_position import place
from app.store.requests import Request
from app.store.unit_of_work import AlreadyQueuedError, OvertakenError, Tx
from app.store.users import Account


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
    submission = Submission(account, codebase, wanted, policy, now)
    if found.running:
        return _join_or_look_again(tx, submission, found.running)
    # a failure stays visible until a user sends "retry", so that polling does not start the job again
    if known := found.completed or (None if wanted.retry else found.failed):
        return _point_at(tx, submission, known)
    return _enqueue(tx, submission, found)


def _join_or_look_again(tx: Tx, submission: Submission, running: UUID) -> Answer:
    if answer := join(tx, submission, running):
        return answer
    # the job ended meanwhile: look up how
    account, wanted, policy, now = submission.account, submission.wanted, submission.policy, submission.now
    found = look(tx, account.user_id, None, wanted.repository, wanted.commit, policy.parser_version, now=now)
    return accept(tx, account, found.existing, wanted, policy, now=now)


def _point_at(tx: Tx, submission: Submission, known: UUID) -> Answer:
    if not analyses.lock_shared(tx, known):  # it was pruned since our look-up
        raise OvertakenError
    requests.add(tx, submission.request(known, "cached"))
    asker = submission.account.user_id
    return Answer(describe.job(tx, known, submission.policy, asker=asker, now=submission.now), is_known=True)


def _enqueue(tx: Tx, submission: Submission, found: ExistingAnalyses) -> Answer:
    """Reserve one unit and publish, or join the job that another transaction has published meanwhile."""
    account, policy, now = submission.account, submission.policy, submission.now
    seen = admit.check(tx, account, ANALYSIS, policy, units=1, sums=found.sums, now=now)
    request = submission.request(uuid4(), "payer")
    try:
        tx.publish(submission.message(request.job_id, request.queue))
    except AlreadyQueuedError as other:
        return _join_or_look_again(tx, submission, other.job_id)
    admitted = admit.reserve(tx, account, ANALYSIS, request.job_id, seen, policy, units=1, now=now)
    requests.add(tx, request)
    codebase_id = submission.codebase.codebase_id
    stands = place(tx, request.job_id, codebase_id, request.commit_sha, policy.parser_version, now=now)
    wait = explain_wait.wait_in_line(tx, stands, request.queue, account, policy, now=now) if stands else None
    promised = _promised(tx, submission, request, stands, wait)
    events.add(tx, request.job_id, "accepted", queue=request.queue, tier=account.tier, quota=admitted, **promised)
    return Answer(describe.fresh(tx, request, stands, wait))


def _promised(tx: Tx, submission: Submission, request: Request, stands: Line | None, wait: Wait | None) -> EventFacts:
    """The promised start in seconds.

    When the job starts, it is compared with the actual wait, and the estimator learns.
    """
    if not stands or not wait or wait.eta_high is None:
        return {"eta": None}
    account, policy = submission.account, submission.policy
    guessed = explain_wait.guess(tx, stands, request.queue, account, policy, now=submission.now)
    return {"eta": [wait.eta_low, wait.eta_high], "held": stands.held, "guess": guessed and round(guessed, 2)}
