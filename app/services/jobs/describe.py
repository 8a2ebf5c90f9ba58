"""Describe jobs to a client: unfinished jobs from the queue, ended ones from the record (docs/adr/0006)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

from app.domain.jobs import Job, Progress, Writing
from app.domain.lifecycle import FINAL, Failure, Status
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.domain.specification import Mode
from app.domain.waiting import Line, Wait
from app.errors import NotFound
from app.services.fairness import explain_wait
from app.services.jobs.disclose import Reader, disclosed, own_requests
from app.services.policy import Policy
from app.store.core.unit_of_work import Tx
from app.store.jobs import events, messages, quota, records, requests
from app.store.jobs.messages import MessageRow
from app.store.jobs.records import RecordRow
from app.store.jobs.requests import AcceptedRow, Request
from app.store.specifications import spec_documents

_DUE_LATER = (Status.WAITING, Status.RETRYING)
#: State by what keeps the message from the workers.
_HELD = {"snooze": Status.WAITING, "parked": Status.WAITING, "retry": Status.RETRYING}


def job(tx: Tx, job_id: UUID, policy: Policy, *, asker: UUID | None, sees_all: bool = False, now: datetime) -> Job:
    """The job as it is now.

    asker: the account that reads it, which sees no other user's bill, line, tier or queue (docs/adr/0033, 0058);
    sees_all: an operator reads it.

    Raises: NotFound.
    """
    found = jobs(tx, [job_id], policy, asker=asker, sees_all=sees_all, now=now)
    if job_id not in found:
        raise NotFound("No such job")
    return found[job_id]


def accepted(
    tx: Tx,
    request: AcceptedRow,
    policy: Policy,
    *,
    asker: UUID | None,
    sees_all: bool = False,
    now: datetime,
) -> Job:
    """Describe a job whose request was read already (app/store/jobs/requests.py), which spares a round trip."""
    found = _described(tx, {request.job_id: request}, policy, Reader(asker, sees_all), now=now)
    if request.job_id not in found:
        raise NotFound("No such job")
    return found[request.job_id]


def jobs(
    tx: Tx, job_ids: Collection[UUID], policy: Policy, *, asker: UUID | None, sees_all: bool = False, now: datetime
) -> dict[UUID, Job]:
    """Describe many jobs, in their order.  One that no longer exists, or whose account does not, is missing.

    Each part is read for all of them at once, so that the round trips do not grow with the jobs.
    """
    return accepted_each(
        tx, requests.accepted_each(tx, job_ids), job_ids, policy, asker=asker, sees_all=sees_all, now=now
    )


def accepted_each(
    tx: Tx,
    every: Mapping[UUID, AcceptedRow],
    job_ids: Collection[UUID],
    policy: Policy,
    *,
    asker: UUID | None,
    sees_all: bool = False,
    now: datetime,
) -> dict[UUID, Job]:
    """Describe many jobs as `jobs` does, whose requests were read already.  every: their requests, and maybe others."""
    chosen = {one: every[one] for one in job_ids if one in every}
    found = _described(tx, chosen, policy, Reader(asker, sees_all), now=now) if chosen else {}
    return {one: found[one] for one in chosen if one in found}


def _described(
    tx: Tx, every: Mapping[UUID, AcceptedRow], policy: Policy, reader: Reader, *, now: datetime
) -> dict[UUID, Job]:
    # the messages before the records: a job that ends between the two reads then appears as ended
    waiting = messages.find_each(tx, every)
    ended = _records(tx, every)
    statuses = {one: status_of(request, waiting.get(one), ended.get(one)) for one, request in every.items()}
    read = _Read(
        policy=policy,
        statuses=statuses,
        messages=waiting,
        records=ended,
        snoozes=_counted(tx, every.keys() - waiting.keys()),
        waits=explain_wait.waits(tx, waiting, statuses, policy, now=now),
        billed=_billed(tx, [one for one, status in statuses.items() if status is Status.COMPLETED], reader.user_id),
        writings=_writings(tx, [one for one, request in every.items() if request.service == Service.SPECVIEW]),
    )
    own = own_requests(tx, every, reader)
    return {
        one: disclosed(read.job(request), reader, own.get(one))
        for one, request in every.items()
        if request.service != Service.SPECVIEW or one in read.writings
    }


@dataclass(frozen=True, slots=True, kw_only=True)
class _Read:
    """The stored facts of some accepted jobs, by job; a part that a job does not have is missing."""

    policy: Policy
    statuses: Mapping[UUID, Status]
    messages: Mapping[UUID, MessageRow]
    records: Mapping[UUID, RecordRow]
    snoozes: Mapping[UUID, int]
    waits: Mapping[UUID, Wait]
    billed: AbstractSet[UUID]
    writings: Mapping[UUID, Writing]

    def job(self, accepted: AcceptedRow) -> Job:
        """Compose one of the jobs that were read."""
        one = accepted.job_id
        status, message, record = self.statuses[one], self.messages.get(one), self.records.get(one)
        completed = status is Status.COMPLETED
        repository = Repository(accepted.host, accepted.owner, accepted.name)
        job = _accepted_job(accepted, status, repository, is_private=accepted.is_private)
        return replace(
            job,
            queue=message.queue if message else accepted.queue,
            carrier=UUID(message.user_id) if message and message.user_id else None,
            attempt=_attempt(message, record),
            snoozes=message.snooze_count if message else self.snoozes.get(one, 0),
            started_at=record.started_at if record else None,
            finished_at=_finished_at(accepted, record) if job.is_final else None,
            next_attempt_at=message.ready_at if message and status in _DUE_LATER else None,
            wait=self.waits.get(one),
            progress=_progress(record) if record and status is Status.RUNNING else None,
            error=_error(record) if record and status is Status.FAILED else None,
            billed=one in self.billed,
            outdated=bool(record and completed and record.maker != self.policy.maker(job.service)),
            maker=record.maker if record else None,
            summary=record.summary if record and completed else None,
            writing=self.writings.get(one),
        )


def fresh(tx: Tx, request: Request, stands: Line | None, wait: Wait | None) -> Job:
    """A job that was just published.  stands: its place; wait: the explanation of that place."""
    status, codebase = Status.WAITING if stands and stands.held else Status.QUEUED, request.codebase
    job = _accepted_job(request, status, codebase.repository, is_private=codebase.is_private)
    writings = _writings(tx, [job.id] if job.service is Service.SPECVIEW else [])
    return replace(job, wait=wait, writing=writings.get(job.id))


def _accepted_job(request: AcceptedRow | Request, status: Status, repository: Repository, *, is_private: bool) -> Job:
    """The job as it was requested, and by whom; nothing of what became of it."""
    return Job(
        id=request.job_id,
        service=Service(request.service),
        status=status,
        repository=repository,
        is_private=is_private,
        commit=request.commit_sha,
        ref=request.ref,
        trigger=request.trigger,
        tier=Tier(request.tier or Tier.FREE),
        queue=request.queue,
        attempt=1,
        snoozes=0,
        submitted_at=request.requested_at,
    )


def status_of(accepted: AcceptedRow, message: MessageRow | None, record: RecordRow | None) -> Status:
    """Derive the state from the three places that each know a part of it."""
    if record is not None and record.status in FINAL:
        return Status(record.status)
    if message is None:
        return Status.CANCELLED if accepted.cancelled_at else Status.RUNNING if record else Status.QUEUED
    if message.started_at is not None:
        return Status.RUNNING
    return _HELD.get(message.delay_reason or "", Status.QUEUED)


def _attempt(message: MessageRow | None, record: RecordRow | None) -> int:
    if message is not None:
        return int(message.retry_count) + int(message.lost_count) + 1
    return int(record.attempt) if record else 1


def _finished_at(accepted: AcceptedRow, record: RecordRow | None) -> datetime | None:
    ended_at: datetime | None = record.completed_at if record and record.completed_at else accepted.cancelled_at
    return ended_at


def _progress(record: RecordRow) -> Progress | None:
    return Progress(**record.progress) if record.progress else None


def _error(record: RecordRow) -> Failure:
    return Failure(record.error_code or "", record.error_message or "", bool(record.error_retryable))


def _records(tx: Tx, every: Mapping[UUID, AcceptedRow]) -> dict[UUID, RecordRow]:
    found: dict[UUID, RecordRow] = {}
    for service in sorted({Service(request.service) for request in every.values()}):
        found |= records.find_each(tx, service, [one for one, of in every.items() if of.service == service])
    return found


def _counted(tx: Tx, job_ids: Collection[UUID]) -> dict[UUID, int]:
    return events.count_each(tx, job_ids, "snoozed") if job_ids else {}


def _billed(tx: Tx, job_ids: Collection[UUID], asker: UUID | None) -> set[UUID]:
    return quota.billed_of(tx, job_ids, asker) if job_ids and asker else set()


def _writings(tx: Tx, job_ids: Collection[UUID]) -> dict[UUID, Writing]:
    found = spec_documents.requested_each(tx, job_ids) if job_ids else {}
    return {
        one: Writing(row.analysis_id, row.language, Mode(row.mode), row.version, row.units)
        for one, row in found.items()
    }
