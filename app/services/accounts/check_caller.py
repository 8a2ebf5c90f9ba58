"""Whether the session or token that a request came with is still good when the request's turn has come."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.errors import Unauthenticated
from app.store.accounts import credentials, open_sessions
from app.store.core.unit_of_work import Tx

TOKEN_PREFIX = "fl_"  # noqa: S105 - a prefix, not a password


def check(tx: Tx, user_id: UUID, by: str | None, *, now: datetime) -> None:
    """Check that the session or token still exists, under the lock on the users row (docs/adr/0057).

    Code that removes sessions or tokens holds that lock as well.  by: the secret; None for code that acts without one.
    Raises: Unauthenticated, if it was removed while the request waited for the lock.
    """
    if by is None:
        return
    is_token = by.startswith(TOKEN_PREFIX)
    if not (credentials.hold_parent(tx, user_id, by, now=now) if is_token else open_sessions.is_open(tx, user_id, by)):
        raise Unauthenticated("This session or token has ended")
