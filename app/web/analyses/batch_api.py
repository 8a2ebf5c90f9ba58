"""Submit many analyses at once."""

from __future__ import annotations

from typing import Any

from app.errors import Problem
from app.services.analyses.submit_batch import BatchOutcomes, submit_batch
from app.services.jobs.answers import Answer, find_answer
from app.store.jobs.idempotency import Rendered, Stored
from app.web.analyses.shapes import BatchShape
from app.web.analyses.submission import wanted_each
from app.web.core import api as package
from app.web.core import auth, problems
from app.web.core.api import api
from app.web.core.context import wired
from app.web.core.schemas import SubmitBatch
from app.web.jobs.idempotency import REPLAYED, idempotency_key
from app.web.jobs.job_json import ACCEPTED, KNOWN, rendered
from app.web.limits.duplicate_requests import only_one


@api.post("/analyses/batch")
@api.input(SubmitBatch, arg_name="body")
@api.output(BatchShape, ACCEPTED, description="At least one item was accepted or joined")
@api.doc(operation_id="submitBatch", tags=["Analyses"], responses={200: "No item was accepted; each has its reason"})
def submit_many(body: SubmitBatch) -> package.ApiAnswer:
    """Analyse up to 100 commits.

    All reservations are made in one transaction.  Each item has its own answer; with `atomic`, either all items are
    accepted or none.  With `Idempotency-Key`, a repeated request gets the stored answer.
    """
    account, services = auth.somebody("write"), wired()
    key = idempotency_key(body.model_dump(), _rendered)
    with only_one(account.user_id, key):
        # a replay is answered without asking the Git hosts again
        if key and (stored := find_answer(services.uow, account.user_id, key)):
            return stored.body, stored.status, REPLAYED
        auth.count_writes(account, len(body.items) - 1)  # one was counted with the request
        items = wanted_each(body.items, account)
        found = submit_batch(services.uow, account.user_id, items, services.policy, atomic=body.atomic, key=key)
    if isinstance(found, Stored):
        return found.body, found.status, REPLAYED
    status, answer = _rendered(found)
    return answer, status, {}


def _rendered(outcomes: BatchOutcomes) -> Rendered:
    rows = [_row(index, outcome) for index, outcome in enumerate(outcomes)]
    return ACCEPTED if any(row["status"] == ACCEPTED for row in rows) else KNOWN, {"items": rows}


def _row(index: int, outcome: Answer | Problem) -> dict[str, Any]:
    if isinstance(outcome, Problem):
        return {"index": index, "status": outcome.status, "problem": problems.document(outcome)}
    status, body = rendered(outcome)
    return {"index": index, "status": status, "job": body}
