"""Describe a job to a client: unfinished jobs from the queue, ended ones from the record (docs/adr/0006)."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.domain.jobs import Job, Progress, Writing
from app.domain.lifecycle import FINAL, Failure, Status
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.domain.specification import Mode
from app.domain.waiting import Line, Wait
from app.errors import NotFound
from app.services.fairness import explain_wait
from app.services.policy import Policy
from app.store import events, messages, quota, records, requests, spec_documents
from app.store.requests import Request
from app.store.unit_of_work import Tx

_DUE_LATER = (Status.WAITING, Status.RETRYING)
#: State by what keeps the message from the workers.
_HELD = {"snooze": Status.WAITING, "parked": Status.WAITING, "retry": Status.RETRYING}


def job(tx: Tx, job_id: UUID, policy: Policy, *, asker: UUID | None, now: datetime) -> Job:
    """The job as it is now.

    asker: the account that reads it; other users' bills are not shown (docs/adr/0033).

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
    asked = _asked(accepted, status, repository, is_private=accepted.is_private)
    return replace(
        asked,
        queue=message.queue if message else accepted.queue,
        attempt=_attempt(message, record),
        snoozes=message.snooze_count if message else events.count(tx, job_id, "snoozed"),
        started_at=record.started_at if record else None,
        finished_at=_finished_at(accepted, record) if asked.is_final else None,
        next_attempt_at=message.ready_at if message and status in _DUE_LATER else None,
        wait=explain_wait.wait(tx, status, message, policy, now=now) if message else None,
        progress=_progress(record) if record and status is Status.RUNNING else None,
        error=_error(record) if record and status is Status.FAILED else None,
        billed=completed and quota.is_billed(tx, job_id, asker),
        outdated=bool(record and completed and record.maker != policy.maker(service)),
        maker=record.maker if record else None,
        summary=record.summary if record and completed else None,
        writing=_writing(tx, asked),
    )


def fresh(tx: Tx, request: Request, stands: Line | None, wait: Wait | None) -> Job:
    """A job that has just been published.  stands: where; wait: and what that means."""
    status, codebase = Status.WAITING if stands and stands.held else Status.QUEUED, request.codebase
    asked = _asked(request, status, codebase.repository, is_private=codebase.is_private)
    return replace(asked, wait=wait, writing=_writing(tx, asked))


def _asked(asked: Row[Any] | Request, status: Status, repository: Repository, *, is_private: bool) -> Job:
    """What was requested, and by whom; nothing of what became of it."""
    return Job(
        id=asked.job_id,
        service=Service(asked.service),
        status=status,
        repository=repository,
        is_private=is_private,
        commit=asked.commit_sha,
        ref=asked.ref,
        trigger=asked.trigger,
        tier=Tier(asked.tier or Tier.FREE),
        queue=asked.queue,
        attempt=1,
        snoozes=0,
        submitted_at=asked.requested_at,
    )


def status_of(accepted: Row[Any], message: Row[Any] | None, record: Row[Any] | None) -> Status:
    """Derive the state from the three places that each know a part of it."""
    if record is not None and record.status in FINAL:
        return Status(record.status)
    if message is None:
        return Status.CANCELLED if accepted.cancelled_at else Status.RUNNING if record else Status.QUEUED
    if message.started_at is not None:
        return Status.RUNNING
    return _HELD.get(message.delay_reason, Status.QUEUED)


def _attempt(message: Row[Any] | None, record: Row[Any] | None) -> int:
    if message is not None:
        return int(message.retry_count) + int(message.lost_count) + 1
    return int(record.attempt) if record else 1


def _finished_at(accepted: Row[Any], record: Row[Any] | None) -> datetime | None:
    ended_at: datetime | None = record.completed_at if record and record.completed_at else accepted.cancelled_at
    return ended_at


def _progress(record: Row[Any]) -> Progress | None:
    return Progress(**record.progress) if record.progress else None


def _error(record: Row[Any]) -> Failure:
    return Failure(record.error_code, record.error_message, bool(record.error_retryable))


def _writing(tx: Tx, job: Job) -> Writing | None:
    if job.service is not Service.SPECVIEW:
        return None
    asked = spec_documents.asked(tx, job.id)
    if asked is None:
        raise NotFound("The account no longer exists")
    return Writing(asked.analysis_id, asked.language, Mode(asked.mode), asked.version, asked.units)
