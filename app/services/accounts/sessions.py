"""Sign in with a link, and sign out."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from uuid import UUID

from app.store import accounts, users
from app.store.unit_of_work import UnitOfWork
from app.store.users import Account

SESSION_LIFE, LINK_LIFE = timedelta(days=14), timedelta(days=1)


def sign_in_link(uow: UnitOfWork, user_id: UUID, *, now: datetime) -> str:
    """A secret that signs the user in once, within a day."""
    secret = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        accounts.add_link(tx, user_id, secret, expires_at=now + LINK_LIFE)
    return secret


def sign_in(uow: UnitOfWork, link_secret: str, *, now: datetime) -> str | None:
    """Use up a link.  Returns: the secret of a new session, None if the link was used before or has expired."""
    secret = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        user_id = accounts.use_link(tx, link_secret, now=now)
        if user_id is None:
            return None
        accounts.add_session(tx, user_id, secret, now=now, expires_at=now + SESSION_LIFE)
    return secret


def by_session(uow: UnitOfWork, secret: str, *, now: datetime) -> Account | None:
    """The user of a session."""
    with uow.begin() as tx:
        user_id = accounts.session_user(tx, secret, now=now)
        return users.find(tx, user_id) if user_id else None


def sign_out(uow: UnitOfWork, secret: str) -> None:
    """End a session; idempotent."""
    with uow.begin() as tx:
        accounts.end_session(tx, secret)
