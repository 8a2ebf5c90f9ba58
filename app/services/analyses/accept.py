"""Decide one submission: join what runs, point at what exists, or reserve and enqueue (docs/adr/0005)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.services.analyses.enqueue import enqueue
from app.services.analyses.join import join
from app.services.analyses.judge import look_again
from app.services.analyses.submission import ANALYSIS, AnalysisSubmission, Wanted, submission_of
from app.services.jobs import admit, describe, visibility
from app.services.jobs.answers import Answer
from app.services.policy import Policy
from app.store.accounts.users import Payer
from app.store.analyses import analyses
from app.store.analyses.accept_lookup import ExistingAnalyses, look
from app.store.core.unit_of_work import AlreadyQueuedError, OvertakenError, Tx
from app.store.jobs import requests
from app.store.repositories import branch_commits, codebases


def accept(tx: Tx, account: Payer, found: ExistingAnalyses, wanted: Wanted, policy: Policy, *, now: datetime) -> Answer:
    """Decide one submission in the transaction of the caller, which has locked the user's row and looked up the commit.

    Locks: the message of the job it joins, after the users row.
    Raises: RepositoryNotFound for a private repository; QuotaExceeded; OvertakenError.
    """
    codebase = found.codebase or codebases.add(tx, wanted.repository, now=now)
    visibility.check_reachable(
        tx, codebase, known(found, wanted), account, named=wanted.named, sees_all=wanted.sees_all
    )
    codebases.asked_for(tx, codebase, now=now)
    if wanted.default_branch:
        codebases.has_default_branch(tx, codebase.codebase_id, wanted.default_branch)
    submission = submission_of(account, codebase, wanted, policy, now=now)
    if not needs_job(found, wanted):
        return point_at(tx, submission, found)
    seen = admit.check(tx, account, ANALYSIS, policy, units=1, sums=found.sums, now=now)
    try:
        return enqueue(tx, [submission], [seen])[0]
    except AlreadyQueuedError as other:
        return _join_or_look_again(tx, submission, other.job_id)


def needs_job(found: ExistingAnalyses, wanted: Wanted) -> bool:
    """Whether neither a job under way nor a result answers a submission."""
    return known(found, wanted) is None


def known(found: ExistingAnalyses, wanted: Wanted) -> UUID | None:
    """The job that answers a submission: the one under way, or one that has ended; None if a new one is needed."""
    return found.running or _ended(found, wanted)


def _ended(found: ExistingAnalyses, wanted: Wanted) -> UUID | None:
    # a failure stays visible until a user sends "retry", so that polling does not start the job again
    return found.completed or (None if wanted.retry else found.failed)


def point_at(tx: Tx, submission: AnalysisSubmission, found: ExistingAnalyses) -> Answer:
    """Join the job under way, or point at the existing result.  Locks, Raises: as accept."""
    if found.running:
        return _join_or_look_again(tx, submission, found.running)
    ended = _ended(found, submission.wanted)
    if ended is None or not analyses.lock_shared(tx, ended):  # it was pruned since our look-up
        raise OvertakenError
    requests.add(tx, submission.request(ended, "cached"))
    if ended == found.completed:
        _follow_branch(tx, submission, ended)
    asker = submission.account.user_id
    return Answer(describe.job(tx, ended, submission.policy, asker=asker, now=submission.now), is_known=True)


def _follow_branch(tx: Tx, submission: AnalysisSubmission, completed: UUID) -> None:
    """The commit may have come onto the default branch since it was judged."""
    where, wanted = submission.codebase.codebase_id, submission.wanted
    look_again(tx, where, wanted.commit, now=submission.now)
    if wanted.named and wanted.default_branch:  # HEAD was looked up: nobody needs to wait for the worker
        branch_commits.note_head(tx, where, completed, now=wanted.looked_at or submission.now)


def _join_or_look_again(tx: Tx, submission: AnalysisSubmission, running: UUID) -> Answer:
    if answer := join(tx, submission, running):
        return answer
    # the job ended meanwhile: look up how
    account, wanted, policy, now = submission.account, submission.wanted, submission.policy, submission.now
    found = look(tx, account.user_id, None, wanted.repository, wanted.commit, policy.parser_version, now=now)
    return accept(tx, account, found.existing, wanted, policy, now=now)
