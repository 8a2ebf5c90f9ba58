"""Which GitHub account signs in to which account of ours."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_ADD = text("""
    INSERT INTO github_links (user_id, github_id, login, linked_at) VALUES (:user_id, :github_id, :login, :now)
    ON CONFLICT DO NOTHING RETURNING user_id""")
_USER = text("UPDATE github_links SET login = :login WHERE github_id = :github_id RETURNING user_id")
_OWNER = text("SELECT user_id FROM github_links WHERE github_id = :github_id")
_OF_USER = text("SELECT login, linked_at FROM github_links WHERE user_id = :user_id")
_REMOVE = text("DELETE FROM github_links WHERE user_id = :user_id")


@dataclass(frozen=True, slots=True)
class Link:
    """A link of an account to a user of GitHub.  login: the name at GitHub when it was last used."""

    login: str
    linked_at: datetime


def add(tx: Tx, user_id: UUID, github_id: int, login: str, *, now: datetime) -> bool:
    """Link an account to a GitHub user; False if either has a link already."""
    given = {"user_id": user_id, "github_id": github_id, "login": login}
    return tx.run(_ADD, now=now, **given).one_or_none() is not None


def owner(tx: Tx, github_id: int) -> UUID | None:
    """Find the account that a link signs in to."""
    found: UUID | None = tx.run(_OWNER, github_id=github_id).scalar_one_or_none()
    return found


def user_of(tx: Tx, github_id: int, login: str) -> UUID | None:
    """Find the owner of a GitHub account, and store its name.  Locks: the row of the link, after the users row."""
    found: UUID | None = tx.run(_USER, github_id=github_id, login=login).scalar_one_or_none()
    return found


def of_user(tx: Tx, user_id: UUID) -> Link | None:
    """The user's link."""
    row = tx.run(_OF_USER, user_id=user_id).one_or_none()
    return Link(row.login, row.linked_at) if row else None


def remove(tx: Tx, user_id: UUID) -> None:
    """Unlink; idempotent.  The caller has locked the users row."""
    tx.write(_REMOVE, user_id=user_id)
