"""Delete a specification: a completed document with its link, or a job that has not ended."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain.queues import Service
from app.errors import Forbidden
from app.services.jobs.cancel import cancel
from app.services.jobs.visibility import check_visible
from app.services.policy import Policy
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork, retried
from app.store.operations import retention
from app.store.specifications import spec_documents


def delete(uow: UnitOfWork, job_id: UUID, account: Account, policy: Policy, *, now: datetime) -> None:
    """Delete a document of the account, or cancel the job while it has not ended.

    Nothing is refunded: the sentences are kept, and so is the bill (docs/adr/0059).
    Raises: NotFound; Forbidden for an operator who is not the owner; Conflict if the job has failed.
    """
    if not _deleted(uow, job_id, account, now=now):
        cancel(uow, job_id, account, policy, now=now)


@retried
def _deleted(uow: UnitOfWork, job_id: UUID, account: Account, *, now: datetime) -> bool:
    """False if the document has not completed.  Locks: the users row, then the accept record."""
    with uow.begin() as tx:
        users.lock_rows(tx, {account.user_id})  # so that no finish counts or drops versions meanwhile
        check_visible(tx, job_id, account, Service.SPECVIEW)
        found = spec_documents.document(tx, job_id)
        if found is None or found.status != "completed":
            return False
        if found.user_id != account.user_id:
            raise Forbidden("Only its owner may delete a specification")
        retention.drop_jobs_now(tx, [job_id], now=now)
    return True
