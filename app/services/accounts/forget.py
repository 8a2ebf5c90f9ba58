"""Delete an account so that nothing is left of it but bills without a user (docs/adr/0042)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.domain.queues import Service
from app.errors import NotFound
from app.services.jobs import end_job
from app.services.operations.run_in_batches import each, in_batches
from app.store.accounts import personal_data, users
from app.store.cells import arrivals
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx, UnitOfWork, retried
from app.store.jobs import events, messages, quota, records, requests
from app.store.operations import audit_log, retention, unused_rows


@dataclass(frozen=True, slots=True)
class Forgotten:
    """Numbers of rows and jobs that a deletion changed.

    cancelled: jobs that were unfinished; stopping: those of them that a worker ends within seconds.
    """

    requests: int
    bills: int
    cancelled: int
    stopping: int


def forget(uow: UnitOfWork, user_id: UUID, *, actor: str, now: datetime) -> Forgotten:
    """Close the account, remove it from every table, and delete its own data.

    After the first commit nobody can sign in as this user.  If a run stops half-way, calling again continues it.
    Raises: NotFound; Busy while the account moves.
    """
    with uow.begin() as tx:
        account = users.lock_to_delete(tx, user_id)
        if account is None:
            raise NotFound("No such user")
        uow.refuse_moving(user_id)
        arrivals.close(tx, user_id)
        personal_data.close(tx, user_id)
    jobs, codebases = set[UUID](), set[UUID]()

    def leave(tx: Tx, _: object, most: int) -> Batch:
        found = personal_data.leave_history(tx, user_id, most)
        jobs.update(row.job_id for row in found)
        codebases.update(row.codebase_id for row in found)
        return Batch(len(found) or None, len(found))

    left = in_batches(uow, leave)
    bills = in_batches(uow, lambda tx, _, most: personal_data.leave_bills(tx, user_id, most))
    cancelled, stopping = _end(uow, user_id, jobs, actor=actor, now=now)
    uow.unregister(user_id)
    jobs |= cancelled
    each(uow, sorted(jobs), lambda tx, some: retention.drop_jobs_of(tx, some, now=now))
    each(uow, sorted(codebases), lambda tx, some: unused_rows.drop_codebases_of(tx, some, before=now))
    return Forgotten(left, bills, len(cancelled), stopping)


@retried
def _end(uow: UnitOfWork, user_id: UUID, jobs: set[UUID], *, actor: str, now: datetime) -> tuple[set[UUID], int]:
    """The last step, under the lock on the user: end unfinished jobs, and delete the row.

    Locks: users row, then the user's messages.  Raises: NotFound if another deletion was faster.
    """
    with uow.begin() as tx:
        if users.lock_to_delete(tx, user_id) is None:
            raise NotFound("No such user")
        stopping, ended = 0, set[UUID]()
        for message in personal_data.messages_of(tx, user_id, jobs):
            _cancel(tx, message.job_id, started=message.started, now=now)
            stopping += message.started
            ended.add(message.job_id)
        personal_data.put_down(tx, user_id)
        for job_id in personal_data.drop_letters(tx, user_id):
            if accepted := requests.accepted(tx, job_id):  # no worker takes it any more, as in the sweep
                records.cancel(tx, Service(accepted.service), job_id, now=now)
                end_job.clear(tx, job_id, Service(accepted.service))
            requests.cancelled(tx, job_id, now=now)
        while personal_data.leave_history(tx, user_id, 1000):  # requested since the first step
            pass
        while personal_data.leave_bills(tx, user_id, 1000).after:
            pass
        audit_log.add(tx, actor, "user.delete", personal_data.NOBODY, cancelled=len(ended))
        personal_data.drop(tx, user_id)
    return ended, stopping


def _cancel(tx: Tx, job_id: UUID, *, started: bool, now: datetime) -> None:
    quota.release(tx, job_id)
    requests.cancelled(tx, job_id, now=now)
    if started:  # only workers end records (docs/adr/0006)
        messages.request_cancel(tx, job_id)
        events.add(tx, job_id, "cancel_requested")
        return
    messages.delete(tx, job_id)
    events.add(tx, job_id, "cancelled", attempt=0)
