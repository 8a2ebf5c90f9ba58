"""Secrets that work once: challenges of passkeys, states of GitHub sign-ins, and links sent to people."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import text

from app.store.accounts.credentials import hashed
from app.store.core.unit_of_work import Tx

_ADD = text("""
    INSERT INTO one_time_secrets (secret_hash, purpose, user_id, expires_at)
    VALUES (:secret_hash, :purpose, :user_id, :expires_at)""")
_USE = text("""
    DELETE FROM one_time_secrets WHERE secret_hash = :secret_hash AND purpose = :purpose AND expires_at > :now
    RETURNING user_id""")
_OWNER = text("""
    SELECT user_id FROM one_time_secrets
     WHERE secret_hash = :secret_hash AND purpose = :purpose AND expires_at > :now""")
_LIVING = text("""
    SELECT count(*) FROM one_time_secrets WHERE user_id = :user_id AND purpose = :purpose AND expires_at > :now""")
_DROP = text("DELETE FROM one_time_secrets WHERE user_id = :user_id")
_PRUNE = text("DELETE FROM one_time_secrets WHERE expires_at < :now")


class Purpose(StrEnum):
    """A secret of one purpose does not work for another."""

    PASSKEY = "passkey"
    GITHUB = "github"
    #: Handed over by an operator.
    RESET = "reset"
    #: Sent to the address, which its use therefore verifies.
    MAILED_RESET = "mailed reset"
    VERIFY = "verify"


@dataclass(frozen=True, slots=True)
class Used:
    """A secret that was just used up.  user_id: None for somebody who was not signed in."""

    user_id: UUID | None


def add(tx: Tx, purpose: Purpose, secret: str, *, user_id: UUID | None = None, expires_at: datetime) -> None:
    """Store the hash of a secret."""
    tx.run(_ADD, secret_hash=hashed(secret), purpose=purpose.value, user_id=user_id, expires_at=expires_at)


def use(tx: Tx, purpose: Purpose, secret: str, *, now: datetime) -> Used | None:
    """Use a secret up; None if it was used before, has expired, or is of another purpose.  Locks: its row."""
    row = tx.run(_USE, secret_hash=hashed(secret), purpose=purpose.value, now=now).one_or_none()
    return Used(row.user_id) if row else None


def owner(tx: Tx, purpose: Purpose, secret: str, *, now: datetime) -> UUID | None:
    """Find the user of a valid secret; it is not used up."""
    given = {"secret_hash": hashed(secret), "purpose": purpose.value}
    found: UUID | None = tx.run(_OWNER, now=now, **given).scalar_one_or_none()
    return found


def living(tx: Tx, user_id: UUID, purpose: Purpose, *, now: datetime) -> int:
    """Count the user's valid ones."""
    return int(tx.run(_LIVING, user_id=user_id, purpose=purpose.value, now=now).scalar_one())


def drop(tx: Tx, user_id: UUID) -> None:
    """Void all of the user's."""
    tx.write(_DROP, user_id=user_id)


def prune(tx: Tx, *, now: datetime) -> int:
    """Delete expired ones.  Returns: how many."""
    return tx.run(_PRUNE, now=now).rowcount
