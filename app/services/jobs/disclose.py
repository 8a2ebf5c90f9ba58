"""Limit a job that several users asked for to what a reader may see: nothing of other users (docs/adr/0058)."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from uuid import UUID

from app.domain import waiting
from app.domain.jobs import Job
from app.domain.plans import Tier
from app.store.core.unit_of_work import Tx
from app.store.jobs import requests
from app.store.jobs.requests import AcceptedRow, OwnRequestRow


@dataclass(frozen=True, slots=True)
class Reader:
    """A reader of jobs.  user_id: None if the reader is unknown; sees_all: an operator."""

    user_id: UUID | None = None
    sees_all: bool = False


@dataclass(frozen=True, slots=True)
class OwnRequest:
    """How the reader asked for a job: the tier at that time, and the queue of that tier."""

    tier: Tier
    queue: str


def own_requests(tx: Tx, accepted: Mapping[UUID, AcceptedRow], reader: Reader) -> dict[UUID, OwnRequest]:
    """Find the reader's own requests, by job.  Requests of the schedule belong to nobody, so every reader sees them.

    accepted: the accept records of the jobs.
    """
    if reader.sees_all:
        return {}
    found = {one: _own_request(row) for one, row in accepted.items() if row.trigger == "scheduled"}
    others: Collection[UUID] = []
    if reader.user_id:
        own = {one: _own_request(row) for one, row in accepted.items() if row.user_id == reader.user_id}
        others = accepted.keys() - own.keys()
        found |= own
    if others and reader.user_id:
        found |= {row.job_id: _own_request(row) for row in requests.of_user(tx, others, reader.user_id)}
    return found


def disclosed(job: Job, reader: Reader, own: OwnRequest | None) -> Job:
    """The job with only what the reader may see.

    In the reader's own line, tier, queue and wait are those of the line.  Elsewhere, tier and queue are those of the
    reader's own request, and the wait reveals nothing of the user in whose line the job is.
    own: None if the reader has not asked for the job; then there is no tier and no queue.
    """
    if reader.sees_all:
        return job
    if job.carrier and job.carrier == reader.user_id:
        tier = (job.wait.tier if job.wait else None) or (own.tier if own else job.tier)
        return job if tier == job.tier else replace(job, tier=tier)
    tier, queue = (own.tier, own.queue) if own else (None, None)
    return replace(job, tier=tier, queue=queue, wait=job.wait and waiting.elsewhere(job.wait))


def _own_request(row: AcceptedRow | OwnRequestRow) -> OwnRequest:
    return OwnRequest(Tier(row.tier or Tier.FREE), row.queue)
