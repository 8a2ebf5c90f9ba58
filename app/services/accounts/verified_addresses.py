"""The first proof that a person owns the address of an account, and what goes with whoever had the account before."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.store.accounts import personal_data, users
from app.store.core.unit_of_work import Tx
from app.store.operations import audit_log


def verify(tx: Tx, user_id: UUID, *, by: str | None = None, now: datetime) -> bool:
    """Note that the owner of the address has the account.

    The first time, somebody else may have created the account with this address.  So all ways in, tokens, webhooks,
    shared links and stored answers of before are deleted.  The caller opens a session afterwards.
    by: the way in that this person has just used, which stays: a Way, or the id of a passkey.
    Returns: whether it was the first time.  The caller has locked the users row.
    """
    if not users.verify_email(tx, user_id, now=now):
        return False
    gone = personal_data.shut_out(tx, user_id, kept=by)
    audit_log.add(tx, str(user_id), "user.email", str(user_id), **gone)
    return True
