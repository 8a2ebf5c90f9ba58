"""Describe a job to a client: unfinished jobs from the queue, ended ones from the record (docs/adr/0006)."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.domain.lifecycle import RETRIES, Status
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.domain.waiting import Line
from app.errors import NotFound
from app.services.fairness import explain_wait
from app.services.policy import Policy
from app.store import events, messages, quota, records, requests, spec_documents
from app.store.requests import Request
from app.store.unit_of_work import Tx

FINISHED = frozenset({"completed", "failed", "cancelled"})
#: State by what keeps the message from the workers.
_HELD = {"snooze": Status.WAITING, "parked": Status.WAITING, "retry": Status.RETRYING}


def job(tx: Tx, job_id: UUID, policy: Policy, *, asker: UUID | None, now: datetime) -> dict[str, Any]:
    """The contract's Job.  asker: the account that reads it; other users' bills are not shown (docs/adr/0033).

    Raises: NotFound.
    """
    accepted = requests.accepted(tx, job_id)
    if accepted is None:
        raise NotFound("No such job")
    # the message before the record: a job that ends between the two reads then appears as ended
    message = messages.find(tx, job_id)
    service = Service(accepted.service)
    record = records.find(tx, service, job_id)
    status = status_of(accepted, message, record)
    completed = status is Status.COMPLETED
    repository = Repository(accepted.host, accepted.owner, accepted.name)
    return {
        **_head(job_id, status, accepted, repository, is_private=accepted.is_private),
        "queue": message.queue if message else accepted.queue,
        "attempt": _attempt(message, record),
        "snoozes": message.snooze_count if message else events.count(tx, job_id, "snoozed"),
        **_instants(status, accepted, message, record),
        "wait": explain_wait.wait(tx, status, message, policy, now=now) if message else None,
        "progress": record.progress if record and status is Status.RUNNING else None,
        "error": _error(record) if status is Status.FAILED else None,
        "billed": completed and quota.is_billed(tx, job_id, asker),
        "outdated": bool(record and completed and record.maker != policy.maker(service)),
        "summary": record.summary if record and completed else None,
        **_OF_SERVICE[service](tx, job_id, record),
        "links": links(service, job_id),
    }


def _of_analysis(_: Tx, __: UUID, record: Row[Any] | None) -> dict[str, Any]:
    return {"parser_version": record.maker if record else None}


def _of_specification(tx: Tx, job_id: UUID, record: Row[Any] | None) -> dict[str, Any]:
    asked = spec_documents.asked(tx, job_id)
    if asked is None:
        raise NotFound("The account no longer exists")
    return {
        "analysis_id": str(asked.analysis_id),
        "language": asked.language,
        "mode": asked.mode,
        "generator": record.maker if record else None,
        "version": asked.version,
        "units": asked.units,
    }


#: The members that jobs of one service have in addition.
_OF_SERVICE = {Service.ANALYSIS: _of_analysis, Service.SPECVIEW: _of_specification}


def fresh(tx: Tx, request: Request, stands: Line | None, wait: dict[str, Any] | None) -> dict[str, Any]:
    """The contract's Job of a job that was just published.  stands: its place; wait: the explanation of that place."""
    status = Status.WAITING if stands and stands.held else Status.QUEUED
    codebase = request.codebase
    return {
        **_head(request.job_id, status, request, codebase.repository, is_private=codebase.is_private),
        "queue": request.queue,
        "attempt": 1,
        "snoozes": 0,
        **_instants(status, request, None, None),
        "wait": wait,
        **dict.fromkeys(("progress", "error", "summary")),
        **_OF_SERVICE[request.service](tx, request.job_id, None),
        "billed": False,
        "outdated": False,
        "links": links(request.service, request.job_id),
    }


def status_of(accepted: Row[Any], message: Row[Any] | None, record: Row[Any] | None) -> Status:
    """Derive the state from the three places that each know a part of it."""
    if record is not None and record.status in FINISHED:
        return Status(record.status)
    if message is None:
        return Status.CANCELLED if accepted.cancelled_at else Status.RUNNING if record else Status.QUEUED
    if message.started_at is not None:
        return Status.RUNNING
    return _HELD.get(message.delay_reason, Status.QUEUED)


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


def _attempt(message: Row[Any] | None, record: Row[Any] | None) -> int:
    if message is not None:
        return int(message.retry_count) + int(message.lost_count) + 1
    return int(record.attempt) if record else 1


def _head(
    job_id: UUID, status: Status, asked: Row[Any] | Request, repository: Repository, *, is_private: bool
) -> dict[str, Any]:
    """What was requested, and by whom."""
    return {
        "id": str(job_id),
        "service": asked.service,
        "status": status.value,
        "repository": {
            "host": repository.host,
            "owner": repository.owner,
            "name": repository.name,
            "url": repository.url,
            "private": is_private,
        },
        "commit": asked.commit_sha,
        "ref": asked.ref,
        "trigger": asked.trigger,
        "tier": asked.tier or Tier.FREE.value,
        "max_attempts": RETRIES[Service(asked.service)].max_attempts,
    }


def _instants(
    status: Status, accepted: Row[Any] | Request, message: Row[Any] | None, record: Row[Any] | None
) -> dict[str, str | None]:
    waiting = status in (Status.WAITING, Status.RETRYING)
    ended_at = record.completed_at if record and record.completed_at else accepted.cancelled_at
    return {
        "submitted_at": _iso(accepted.requested_at),
        "started_at": _iso(record.started_at) if record else None,
        "finished_at": _iso(ended_at) if status.value in FINISHED else None,
        "next_attempt_at": _iso(message.ready_at) if message and waiting else None,
    }


def _error(record: Row[Any] | None) -> dict[str, Any] | None:
    if record is None:
        return None
    return {"code": record.error_code, "message": record.error_message, "retryable": bool(record.error_retryable)}


def _iso(instant: datetime | None) -> str | None:
    return instant.isoformat().replace("+00:00", "Z") if instant else None
