"""Give a person what their browser submitted before it signed in (docs/adr/0057)."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork, retried
from app.store.jobs import messages, requests


@retried
def take_over(uow: UnitOfWork, account: Account, job_ids: Sequence[UUID]) -> int:
    """Add a visitor's jobs to the account's history, as jobs that it joined or that were there.

    The visitor still pays and carries them, so nothing is billed again, and no place in a line changes.
    job_ids: of the browser alone, because the visitor's identity is shared by everybody behind one address.
    Returns: how many were added.  Locks: users row; the messages of unfinished jobs, shared.
    """
    added = 0
    with uow.begin() as tx:
        now_account = users.lock(tx, account.user_id)
        if now_account is None:
            return 0
        days = now_account.plan.retention_days
        for job_id in sorted(job_ids):
            role = "joined" if messages.lock_shared(tx, job_id) else "cached"
            added += requests.take_over(tx, job_id, account.user_id, role, retention_days=days)
    return added
