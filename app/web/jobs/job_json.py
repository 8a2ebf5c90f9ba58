"""Render a job as the API's Job (docs/api.md).  app/adapters/webhook_body.py writes a part of it into webhooks."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from app.domain.jobs import Job, Progress
from app.domain.lifecycle import Failure
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.domain.waiting import Wait
from app.services.jobs.answers import Answer
from app.store.jobs.idempotency import Rendered
from app.web.core.instants import iso

ACCEPTED, KNOWN = 202, 200


def rendered(answer: Answer) -> Rendered:
    """(status, body) of a submission: 202 accepted or joined, 200 existing."""
    return KNOWN if answer.is_known else ACCEPTED, job_json(answer.job)


def job_json(job: Job) -> dict[str, Any]:
    """The contract's Job: what was requested, its progress and its result."""
    return {
        "id": str(job.id),
        "service": job.service.value,
        "status": job.status.value,
        "repository": repository_json(job.repository) | {"private": job.is_private},
        "commit": job.commit,
        "ref": job.ref,
        "trigger": job.trigger,
        "tier": job.tier.value if job.tier else None,
        "max_attempts": job.max_attempts,
        "queue": job.queue,
        "attempt": job.attempt,
        "snoozes": job.snoozes,
        "submitted_at": iso(job.submitted_at),
        "started_at": iso(job.started_at),
        "finished_at": iso(job.finished_at),
        "next_attempt_at": iso(job.next_attempt_at),
        "wait": _wait(job.wait) if job.wait else None,
        "progress": _progress(job.progress) if job.progress else None,
        "error": _error(job.error) if job.error else None,
        "billed": job.billed,
        "outdated": job.outdated,
        "summary": job.summary,
        **_of_service(job),
        "links": links(job.service, job.id),
    }


def repository_json(repository: Repository) -> dict[str, Any]:
    """The repository of a job, without its visibility."""
    return {"host": repository.host, "owner": repository.owner, "name": repository.name, "url": repository.url}


def links(service: Service, job_id: UUID) -> dict[str, str]:
    """Addresses of related resources."""
    if service is Service.SPECVIEW:
        base = f"/api/v1/specs/{job_id}"
        return {
            "self": base,
            "markdown": f"{base}.md",
            "events": f"{base}/events",
            "timeline": f"{base}/timeline",
            "page": f"/specs/{job_id}",
        }
    base = f"/api/v1/analyses/{job_id}"
    return {
        "self": base,
        "tests": f"{base}/tests",
        "files": f"{base}/files",
        "events": f"{base}/events",
        "timeline": f"{base}/timeline",
        "page": f"/analyses/{job_id}",
    }


def _of_service(job: Job) -> dict[str, Any]:
    if job.writing is None:
        return {"parser_version": job.maker}
    return {
        "analysis_id": str(job.writing.analysis_id),
        "language": job.writing.language,
        "mode": job.writing.mode.value,
        "generator": job.maker,
        "version": job.writing.version,
        "units": job.writing.units,
    }


def _wait(wait: Wait) -> dict[str, Any]:
    return {
        "reason": wait.reason.value,
        "position": wait.position,
        "ahead_of_you": wait.ahead_of_you,
        "yours_ahead": wait.yours_ahead,
        "running": wait.running,
        "limit": wait.limit,
        "eta_seconds": wait.eta_seconds,
        "eta_low": wait.eta_low,
        "eta_high": wait.eta_high,
        "text": wait.text,
    }


def _progress(progress: Progress) -> dict[str, Any]:
    return {"done": progress.done, "phase": progress.phase, "total": progress.total}


def _error(failure: Failure) -> dict[str, Any]:
    return {"code": failure.code, "message": failure.message, "retryable": failure.retryable}
