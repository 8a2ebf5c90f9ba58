"""Reserve units for new analyses and publish them, in a number of statements that does not depend on how many."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import uuid4

from app.domain.jobs import EventFacts
from app.domain.quota import Usage
from app.domain.waiting import Line, Wait
from app.services.analyses.submission import ANALYSIS
from app.services.fairness import explain_wait
from app.services.jobs import admit, describe
from app.services.jobs.answers import Answer
from app.services.jobs.note_accepts import Accepted, note_accepts
from app.services.jobs.submission import Submission
from app.store.core.unit_of_work import Tx
from app.store.fairness.queue_position import places
from app.store.jobs import requests
from app.store.jobs.requests import Request


def enqueue(tx: Tx, submissions: Sequence[Submission], seen: Sequence[Usage]) -> list[Answer]:
    """Reserve one unit for each and publish its job.  All are of one account, and of different commits.

    seen: the account's units before each, which were judged.  Locks: the new messages, in the order given.
    Raises: AlreadyQueuedError if another transaction has published a commit meanwhile; OvertakenError.
    """
    account, policy, now = submissions[0].account, submissions[0].policy, submissions[0].now
    accepted = [submission.request(uuid4(), "payer") for submission in submissions]
    tx.publish(*(of.message(request.job_id, request.queue) for of, request in zip(submissions, accepted, strict=True)))
    before = {request.job_id: usage for request, usage in zip(accepted, seen, strict=True)}
    admitted = admit.reserve_each(tx, account, ANALYSIS, before, policy, units=1, now=now)
    requests.add(tx, *accepted)
    jobs = [(request.job_id, request.codebase_id, request.commit_sha) for request in accepted]
    answers, noted = [], []
    lines = places(tx, jobs, policy.parser_version, now=now)
    for submission, request, stands in zip(submissions, accepted, lines, strict=True):
        wait = explain_wait.wait_in_line(tx, stands, request.queue, account, policy, now=now) if stands else None
        promised = _promised(tx, submission, request, stands, wait)
        quota = admitted[request.job_id]
        facts = {"queue": request.queue, "tier": account.tier, "quota": quota, **promised}
        noted.append(Accepted(request, 1, facts))
        answers.append(Answer(describe.fresh(tx, request, stands, wait)))
    note_accepts(tx, noted)
    return answers


def _promised(tx: Tx, submission: Submission, request: Request, stands: Line | None, wait: Wait | None) -> EventFacts:
    """The promised start in seconds.

    When the job starts, it is compared with the actual wait, and the estimator learns.
    """
    if not stands or not wait or wait.eta_high is None:
        return {"eta": None}
    account, policy = submission.account, submission.policy
    guessed = explain_wait.guess(tx, stands, request.queue, account, policy, now=submission.now)
    return {"eta": [wait.eta_low, wait.eta_high], "held": stands.held, "guess": guessed and round(guessed, 2)}
