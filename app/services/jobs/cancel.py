"""Cancel a job for a user who asked for it."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain.lifecycle import FINAL, Status
from app.domain.queues import Service
from app.errors import Conflict, Forbidden, Message
from app.services.fairness import choose_carrier, wake_jobs
from app.services.jobs import describe
from app.services.jobs.visibility import check_asked, check_visible
from app.services.policy import Policy
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import OvertakenError, Tx, UnitOfWork, retried
from app.store.fairness import carriers
from app.store.jobs import events, messages, quota, records, requests
from app.store.jobs.messages import MessageRow
from app.store.jobs.requests import AcceptedRow
from app.store.operations import audit_log


@retried
def cancel(
    uow: UnitOfWork,
    job_id: UUID,
    account: Account,
    policy: Policy,
    *,
    service: Service | None = None,
    now: datetime,
) -> None:
    """Delete the job, or ask its worker to stop; idempotent.

    A user who joined only leaves.  If others joined the payer's job, the payer stops paying, and the job continues for
    the others at no cost; it ends when the last of them leaves.
    service: which the job must belong to, None for any.
    Locks: the users rows of payer and carrier, then the message, then the row of the next carrier, if that is free.
    Raises: NotFound, Forbidden, Conflict if the job has ended.
    """
    with uow.begin() as tx:
        message = _lock(tx, job_id, check_visible(tx, job_id, account, service))
        accepted = requests.accepted(tx, job_id)  # again: the payer may have left while we waited for the locks
        role = None if account.is_operator else requests.role(tx, job_id, account.user_id)
        accepted = check_asked(accepted, account, role)
        record = records.find(tx, Service(accepted.service), job_id)
        status = describe.status_of(accepted, message, record)
        if status is Status.CANCELLED:
            return
        if role == "left" and not account.is_operator:
            return
        if role is None and not account.is_operator:
            raise Forbidden("Only somebody who asked for this job may cancel it")
        if status in FINAL or message is None:
            raise Conflict(Message("The job has already ended: it is %(status)s", status=status))
        if not account.is_operator and account.user_id == accepted.user_id and accepted.cancelled_at:
            return  # the payer has left it before, to those who joined
        if not account.is_operator and _leaves(tx, accepted, account, now=now):
            if message.user_id == str(account.user_id):  # the job may no longer use the right of a user who gave it up
                choose_carrier.settle(tx, job_id, policy)
            return
        _end(tx, message, accepted, is_started=record is not None, now=now)


def _lock(tx: Tx, job_id: UUID, accepted: AcceptedRow | None) -> MessageRow | None:
    """Lock payer and carrier, then the message.  Raises: OvertakenError if the job was moved meanwhile."""
    seen = carriers.seen(tx, job_id)
    users.lock_rows(tx, {who for who in (accepted and accepted.user_id, seen and seen.carrier) if who})
    message = messages.lock(tx, job_id)
    if message and not (seen and message.user_id == (seen.carrier and str(seen.carrier))):
        raise OvertakenError
    return message


@retried
def revoke(uow: UnitOfWork, job_id: UUID, *, actor: str, now: datetime) -> bool:
    """End a job for all askers, as an operator at a worker's console; False if it has ended.

    Locks: the users rows of payer and carrier, then the message.
    """
    with uow.begin() as tx:
        accepted = requests.accepted(tx, job_id)
        message = _lock(tx, job_id, accepted)
        if message is None or accepted is None or message.cancel_requested_at is not None:
            return False
        audit_log.add(tx, actor, "job.revoke", str(job_id))
        record = records.find(tx, Service(accepted.service), job_id)
        _end(tx, message, accepted, is_started=record is not None, now=now)
        return True


def _leaves(tx: Tx, accepted: AcceptedRow, account: Account, *, now: datetime) -> bool:
    """Remove the account from a job that others still want; False if no other asker is left."""
    job_id, is_payer = accepted.job_id, account.user_id == accepted.user_id
    others = requests.others(tx, job_id, account.user_id) + (not is_payer and accepted.cancelled_at is None)
    if is_payer and others:
        quota.release(tx, job_id)
        requests.withdraw(tx, job_id, account.user_id, now=now)
        events.add(tx, job_id, "payer_left")
    elif not is_payer:
        requests.leave(tx, job_id, account.user_id)
        events.add(tx, job_id, "left")
    return bool(others)


def _end(tx: Tx, message: MessageRow, accepted: AcceptedRow, *, is_started: bool, now: datetime) -> None:
    job_id, service = accepted.job_id, Service(accepted.service)
    if is_started:  # only workers end records (docs/adr/0006)
        messages.request_cancel(tx, job_id)
        events.add(tx, job_id, "cancel_requested")
        return
    messages.delete(tx, job_id)
    quota.release(tx, job_id)
    requests.cancelled(tx, job_id, now=now)
    events.add(tx, job_id, "cancelled", attempt=0)
    if message.user_id and (account := users.find(tx, UUID(message.user_id))):
        # a ready job may be the one that a free slot had woken: then the slot belongs to the next job
        wake_jobs.wake(tx, account, service, most=int(message.delay_reason is None))
