"""Passwords of people, as argon2id hashes."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_BY_EMAIL = text("""
    SELECT u.id AS user_id, p.hash FROM users u LEFT JOIN passwords p ON p.user_id = u.id
     WHERE lower(u.email) = lower(:email)""")
_HASH = text("SELECT hash FROM passwords WHERE user_id = :user_id")
_SET = text("""
    INSERT INTO passwords (user_id, hash, changed_at) VALUES (:user_id, :hash, :now)
    ON CONFLICT (user_id) DO UPDATE SET hash = EXCLUDED.hash, changed_at = EXCLUDED.changed_at""")
_REPLACE_HASH = text("UPDATE passwords SET hash = :hash WHERE user_id = :user_id")


@dataclass(frozen=True, slots=True)
class Credentials:
    """A person with the hash of the password.  hash: None for a person without a password."""

    user_id: UUID
    hash: str | None


def by_email(tx: Tx, email: str) -> Credentials | None:
    """Find the person with this address, ignoring case; None if there is none."""
    row = tx.run(_BY_EMAIL, email=email).one_or_none()
    return Credentials(row.user_id, row.hash) if row else None


def hash_of(tx: Tx, user_id: UUID) -> str | None:
    """The user's hash.  A caller that acts on it has locked the users row, so that it is still the same."""
    found: str | None = tx.run(_HASH, user_id=user_id).scalar_one_or_none()
    return found


def put(tx: Tx, user_id: UUID, hashed: str, *, now: datetime) -> None:
    """Give the user a password.  The caller has locked the users row."""
    tx.write(_SET, user_id=user_id, hash=hashed, now=now)


def replace_hash(tx: Tx, user_id: UUID, hashed: str) -> None:
    """Store another hash of the same password.  The caller has locked the users row."""
    tx.write(_REPLACE_HASH, user_id=user_id, hash=hashed)
