"""Public keys with which people sign in."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_ADD = text("""
    INSERT INTO passkeys (user_id, credential_id, public_key, sign_count, name, created_at)
    VALUES (:user_id, :credential_id, :public_key, :sign_count, :name, :now)
    ON CONFLICT (credential_id) DO NOTHING RETURNING id""")
_FIND = text("SELECT id, user_id, public_key, sign_count FROM passkeys WHERE credential_id = :credential_id")
_USED = text("""
    UPDATE passkeys SET sign_count = :new, last_used_at = :now WHERE id = :id AND sign_count = :old RETURNING id""")
_OF_USER = text("""
    SELECT id, credential_id, name, created_at, last_used_at FROM passkeys
     WHERE user_id = :user_id ORDER BY created_at DESC, id""")
_REMOVE = text("DELETE FROM passkeys WHERE id = :id AND user_id = :user_id")
_REMOVE_ALL = text("DELETE FROM passkeys WHERE user_id = :user_id")


@dataclass(frozen=True, slots=True)
class StoredKey:
    """A passkey with its public key.  sign_count: of the last use."""

    id: UUID
    user_id: UUID
    public_key: bytes
    sign_count: int


class PasskeyRow(NamedTuple):
    """A passkey as its owner sees it."""

    id: UUID
    credential_id: bytes
    name: str
    created_at: datetime
    last_used_at: datetime | None


def add(
    tx: Tx, user_id: UUID, *, credential_id: bytes, public_key: bytes, sign_count: int, name: str, now: datetime
) -> UUID | None:
    """Store a passkey.  Returns: its id, None if some account has this credential already."""
    given = {"credential_id": credential_id, "public_key": public_key, "sign_count": sign_count}
    added: UUID | None = tx.run(_ADD, user_id=user_id, name=name, now=now, **given).scalar_one_or_none()
    return added


def find(tx: Tx, credential_id: bytes) -> StoredKey | None:
    """Find a key by the id that the authenticator gave it."""
    row = tx.run(_FIND, credential_id=credential_id).one_or_none()
    return StoredKey(row.id, row.user_id, bytes(row.public_key), row.sign_count) if row else None


def used(tx: Tx, key: StoredKey, *, sign_count: int, now: datetime) -> bool:
    """Note a use; False if the key was removed or used in the meantime.  Locks: its row, after the users row."""
    given = {"id": key.id, "old": key.sign_count, "new": sign_count}
    return tx.run(_USED, now=now, **given).one_or_none() is not None


def of_user(tx: Tx, user_id: UUID) -> list[PasskeyRow]:
    """The user's passkeys, newest first."""
    return tx.run(_OF_USER, user_id=user_id).values(PasskeyRow)


def remove(tx: Tx, user_id: UUID, passkey_id: UUID) -> bool:
    """Delete one of the user's; False if there is no such one.  The caller has locked the users row."""
    return tx.run(_REMOVE, id=passkey_id, user_id=user_id).rowcount > 0


def remove_all(tx: Tx, user_id: UUID) -> None:
    """Delete all of the user's.  The caller has locked the users row."""
    tx.write(_REMOVE_ALL, user_id=user_id)
