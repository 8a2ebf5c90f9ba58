"""The unfinished jobs of an account that has arrived, on the queues of its new cell."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from uuid import UUID

from app.domain.queues import Service
from app.services.cells.account_busy import AccountBusy
from app.store.cells.departures import UnfinishedRow
from app.store.core.unit_of_work import AlreadyQueuedError, JobMessage, Tx
from app.store.jobs import events, messages

#: Why a message waits for a time; others of the account wait for its slots.
_TIMED = frozenset({"retry", "eta"})


def publish_jobs(tx: Tx, user_id: UUID, jobs: Sequence[UnfinishedRow]) -> None:
    """Publish the jobs in their order; as many are ready as were ready or running, and others are parked.

    What ran begins anew, and its attempts are counted anew, as those of a dead letter that is put back.
    Raises: AccountBusy if this cell works on one of the commits already.
    """
    held = any(job.delay_reason and job.delay_reason not in _TIMED for job in jobs)
    ready = sum(job.is_ready or job.is_leased for job in jobs)
    for job in jobs:
        try:
            tx.publish(_message(job, user_id, max(1, ready) if held else None))
        except AlreadyQueuedError as there:
            raise AccountBusy("The other cell works on the same commit", [there.job_id]) from there
        events.add(tx, job.job_id, "moved")
        if job.is_cancelled:
            messages.request_cancel(tx, job.job_id)


def _message(job: UnfinishedRow, user_id: UUID, most_ready: int | None) -> JobMessage:
    service = Service(job.service)
    address = {"host": job.host, "owner": job.owner, "name": job.name, "commit": job.commit_sha}
    waits = job.delay_seconds if job.delay_reason in _TIMED else None
    return JobMessage(
        job_id=job.job_id,
        task=service.task,
        queue=job.queue,
        kwargs={**(address if service is Service.ANALYSIS else {}), "user_id": str(user_id)},
        user_id=user_id,
        unique_key=job.unique_key,
        step=job.step,
        most_ready=most_ready,
        delay=timedelta(seconds=waits or 0),
    )
