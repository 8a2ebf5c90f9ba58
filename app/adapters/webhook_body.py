"""Write an event out: thin, without secrets; the receiver asks the API for more (docs/webhooks.md)."""

import json
from typing import Any

from app.domain.jobs import Job
from app.domain.queues import Service
from app.services.webhooks.event import Render, WebhookEvent

#: Of each service: its path in the API, and of its pages.
PATHS = {Service.ANALYSIS: "analyses", Service.SPECVIEW: "specs"}


def renderer(base: str) -> Render:
    """Make the function that writes an event as a request's body.

    base: the address of the service, before paths; empty if it is not known.
    """

    def render(event: WebhookEvent) -> str:
        data = _test(event) if event.job is None else _job(event.job, event.type, base)
        at = event.happened_at.isoformat().replace("+00:00", "Z")
        body = {"type": event.type, "timestamp": at, "data": data}
        return json.dumps(body, ensure_ascii=False, separators=(",", ":"))

    return render


def _test(event: WebhookEvent) -> dict[str, Any]:
    return {"webhook_id": str(event.webhook_id), "message": "This is a test event."}


def _job(job: Job, kind: str, base: str) -> dict[str, Any]:
    where, path, error = job.repository, PATHS[job.service], job.error
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
        "error": error and {"code": error.code, "message": error.message, "retryable": error.retryable},
        "links": {"self": f"{base}/api/v1/{path}/{job.id}", "page": f"{base}/{path}/{job.id}"},
    }
