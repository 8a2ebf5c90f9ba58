"""Idempotency keys: the stored answer of a request, made in its accept transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer given before.  fingerprint: SHA-256 of the request."""

    fingerprint: bytes
    status: int
    body: dict[str, Any]


#: (status, body) of an answer, as it is stored.
Rendered = tuple[int, dict[str, Any]]
# A request that is being processed holds this lock until its commit; another one with its key gets 409 instead of
# waiting.  These are two statements, because the answer must be looked up in a snapshot taken after the lock.
# accept_look (accept_lookup.sql) takes the same lock for a single submission; a test compares the two.
_TRY_LOCK = text("""
    SELECT set_config('fairlane.key_locked',
                      pg_try_advisory_xact_lock(hashtextextended(:user_id || ' ' || :key, 0))::text, true)""")
_FIND = text("""
    SELECT current_setting('fairlane.key_locked', true) = 'true' AS locked, k.fingerprint, k.status, k.body
      FROM (VALUES (1)) AS one LEFT JOIN idempotency_keys k ON k.user_id = :user_id AND k.key = :key""")
_ADD = text("""
    INSERT INTO idempotency_keys (user_id, key, fingerprint, status, body, created_at)
    VALUES (:user_id, :key, :fingerprint, :status, CAST(:body AS jsonb), :now)""")
_PRUNE = text("DELETE FROM idempotency_keys WHERE created_at < :before")


def try_lock(tx: Tx, user_id: UUID, key: str) -> tuple[bool, Stored | None]:
    """Lock a key until the transaction ends.  Returns: whether it was free; and the answer stored under it."""
    tx.write(_TRY_LOCK, user_id=str(user_id), key=key)
    row = tx.run(_FIND, user_id=user_id, key=key).one()
    return bool(row.locked), stored_of(row.fingerprint, row.status, row.body)


def find(tx: Tx, user_id: UUID, key: str) -> Stored | None:
    """The answer stored under a key."""
    row = tx.run(_FIND, user_id=user_id, key=key).one()
    return stored_of(row.fingerprint, row.status, row.body)


def add(tx: Tx, user_id: UUID, key: str, answer: Stored, *, now: datetime) -> None:
    """Store an answer.  The caller has locked the key."""
    tx.write(
        _ADD,
        user_id=user_id,
        key=key,
        fingerprint=answer.fingerprint,
        status=answer.status,
        body=json.dumps(answer.body),
        now=now,
    )


def prune(tx: Tx, *, before: datetime) -> int:
    """Delete older keys.  Returns: how many."""
    return tx.run(_PRUNE, before=before).rowcount


def stored_of(fingerprint: bytes | None, status: int, body: dict[str, Any]) -> Stored | None:
    """Read a stored answer from a row, whose columns are NULL if there is none."""
    return None if fingerprint is None else Stored(bytes(fingerprint), status, body)
