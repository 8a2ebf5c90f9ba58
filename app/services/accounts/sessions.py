"""Sign in with a link, see one's sessions, and sign out."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from app.errors import NotFound
from app.store import accounts, users
from app.store.unit_of_work import UnitOfWork
from app.store.users import Account

SESSION_LIFE, LINK_LIFE = timedelta(days=14), timedelta(days=1)


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A signed-in browser.  is_own: the one that asks."""

    id: UUID
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime
    is_own: bool


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


def sessions_of(uow: UnitOfWork, user_id: UUID, own: str, *, now: datetime) -> list[OpenSession]:
    """The user's open sessions, newest first.  own: the secret of the one that asks."""
    with uow.begin() as tx:
        return [OpenSession(**row) for row in accounts.sessions_of(tx, user_id, own, now=now)]


def end(uow: UnitOfWork, user_id: UUID, session_id: UUID) -> None:
    """End one of the user's sessions.  Raises: NotFound."""
    with uow.begin() as tx:
        if not accounts.end_named_session(tx, user_id, session_id):
            raise NotFound("No such session")


def sign_out(uow: UnitOfWork, secret: str) -> None:
    """End a session; idempotent."""
    with uow.begin() as tx:
        accounts.end_session(tx, secret)
