"""Join an analysis that another user asked for, or that the user asked for before."""

from __future__ import annotations

from uuid import UUID

from app.services.analyses.submission import ANALYSIS, AnalysisSubmission
from app.services.fairness import choose_carrier
from app.services.jobs import admit, describe, visibility
from app.services.jobs.answers import Answer
from app.store.core.unit_of_work import Tx
from app.store.jobs import events, messages, requests


def join(tx: Tx, submission: AnalysisSubmission, job_id: UUID) -> Answer | None:
    """Join an unfinished job; None if it has ended meanwhile.

    Locks: its message, shared, so that no cancel can end the job before it sees this user.
    Raises: RepositoryNotFound for another user's job of a private repository; QuotaExceeded.
    """
    sees_all = submission.wanted.sees_all
    visibility.check_reachable(tx, submission.codebase, job_id, submission.account, sees_all=sees_all)
    if not messages.lock_shared(tx, job_id):
        return None
    account, policy, now = submission.account, submission.policy, submission.now
    accepted = requests.accepted(tx, job_id)
    if accepted and accepted.user_id == account.user_id:
        # a payer who had left pays again, so that leaving and coming back does not make an analysis free
        if accepted.cancelled_at is not None:
            seen = admit.check(tx, account, ANALYSIS, policy, units=1, now=now)
            admitted = admit.reserve(tx, account, ANALYSIS, job_id, seen, policy, units=1, now=now)
            requests.take_back(tx, job_id, account.user_id)
            events.add(tx, job_id, "payer_came_back", quota=admitted)
            choose_carrier.joined(tx, job_id, account, policy)
    elif not requests.has_asked(tx, job_id, account.user_id):
        requests.add(tx, submission.request(job_id, "joined"))
        events.add(tx, job_id, "joined")
        choose_carrier.joined(tx, job_id, account, policy)
    return Answer(describe.job(tx, job_id, policy, asker=account.user_id, now=now))
