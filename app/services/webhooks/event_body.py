"""What a webhook is told: thin, without secrets; the receiver asks the API for more."""

from __future__ import annotations

import json
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.jobs import Job
from app.domain.queues import Service
from app.services.jobs import describe
from app.services.policy import Policy
from app.store.unit_of_work import Tx

#: Of each service: its path in the API, and of its pages.
_PATHS = {Service.ANALYSIS: "analyses", Service.SPECVIEW: "specs"}


def of_job(
    tx: Tx, job_id: UUID, kind: str, policy: Policy, *, base: str, happened_at: datetime, now: datetime
) -> str | None:
    """The body of an event; None if the job no longer exists.  kind: `analysis.completed`; base: before paths."""
    job = describe.jobs(tx, [job_id], policy, asker=None, now=now).get(job_id)
    return None if job is None else _body(kind, happened_at, _data(job, kind, base))


def of_test(webhook_id: UUID, kind: str, *, now: datetime) -> str:
    """The body of the event that an owner sends by hand."""
    return _body(kind, now, {"webhook_id": str(webhook_id), "message": "This is a test event."})


def _body(kind: str, at: datetime, data: dict[str, Any]) -> str:
    told = {"type": kind, "timestamp": at.isoformat().replace("+00:00", "Z"), "data": data}
    return json.dumps(told, ensure_ascii=False, separators=(",", ":"))


def _data(job: Job, kind: str, base: str) -> dict[str, Any]:
    where, path = job.repository, _PATHS[job.service]
    error = job.error and {
        "code": job.error.code,
        "message": job.error.message,
        "retryable": job.error.retryable,
    }
    return {
        "id": str(job.id),
        "service": job.service.value,
        "status": kind.rpartition(".")[2],
        "repository": {
            "host": where.host,
            "owner": where.owner,
            "name": where.name,
            "url": where.url,
            "private": job.is_private,
        },
        "commit": job.commit,
        "ref": job.ref,
        "summary": job.summary,
        "error": error,
        "links": {"self": f"{base}/api/v1/{path}/{job.id}", "page": f"{base}/{path}/{job.id}"},
    }
