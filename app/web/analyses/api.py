"""Submit, read and cancel analyses."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.services.analyses import submit
from app.services.jobs import read_jobs
from app.services.jobs.answers import find_answer
from app.services.jobs.cancel import cancel
from app.web.analyses.submission import asks_host, wanted
from app.web.core import auth
from app.web.core.api import ApiAnswer, api
from app.web.core.context import utc_now, wired
from app.web.core.schemas import SubmitAnalysis
from app.web.jobs.idempotency import answered, idempotency_key
from app.web.jobs.job_json import ACCEPTED, job_json, rendered
from app.web.jobs.shapes import JobShape
from app.web.limits.duplicate_requests import only_one


@api.post("/analyses")
@api.input(SubmitAnalysis, arg_name="body")
@api.output(JobShape, ACCEPTED, description="Accepted, or joined to the analysis of this commit that is under way")
@api.doc(operation_id="submitAnalysis", tags=["Analyses"], responses={200: "Already analysed; nothing is billed"})
def submit_analysis(body: SubmitAnalysis) -> ApiAnswer:
    """Analyse a commit.

    This reserves one analysis and enqueues it, in one transaction.  With `Idempotency-Key`, a repeated request gets the
    stored answer.  If the last analysis of the commit failed, nothing starts unless `retry` is true.
    """
    account, services = auth.somebody("write"), wired()
    key = idempotency_key(body.model_dump(), rendered)
    with only_one(account.user_id, key):
        # a replay is answered without asking the Git host again
        if key and asks_host(body) and (stored := find_answer(services.uow, account.user_id, key)):
            return answered(stored)
        item = wanted(body, account)
        return answered(submit.submit(services.uow, account.user_id, item, services.policy, key=key))


@api.get("/analyses/<uuid:job_id>")
@api.output(JobShape)
@api.doc(operation_id="getAnalysis", tags=["Analyses"])
def show_analysis(job_id: UUID) -> dict[str, Any]:
    """One analysis: its state, why it waits, its progress, or its result."""
    found = read_jobs.job(wired().uow, job_id, auth.viewer(), wired().policy, asker=auth.asker(), now=utc_now())
    return job_json(found)


@api.delete("/analyses/<uuid:job_id>")
@api.doc(
    operation_id="cancelAnalysis",
    tags=["Analyses"],
    responses={204: "The job is cancelled, or stops soon", 409: "The job has ended"},
)
def cancel_analysis(job_id: UUID) -> tuple[str, int]:
    """Cancel an analysis; idempotent.

    A queued one is deleted and its reservation returned; a running one stops within seconds.
    """
    cancel(wired().uow, job_id, auth.somebody("write"), wired().policy, now=utc_now())
    return "", 204
