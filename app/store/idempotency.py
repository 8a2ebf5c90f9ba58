"""Idempotency keys: the stored answer of a request, made in its accept transaction."""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import text

from app.store.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class Stored:
    """An answer given before.  fingerprint: SHA-256 of the request."""

    fingerprint: bytes
    status: int
    body: dict[str, Any]


# A twin that is being answered holds this lock until its commit; we tell our client 409 rather than wait with it.
_CLAIM = text("SELECT pg_try_advisory_xact_lock(hashtextextended(:user_id || ' ' || :key, 0))")
_FIND = text("SELECT fingerprint, status, body FROM idempotency_keys WHERE user_id = :user_id AND key = :key")
_ADD = text("""
    INSERT INTO idempotency_keys (user_id, key, fingerprint, status, body, created_at)
    VALUES (:user_id, :key, :fingerprint, :status, CAST(:body AS jsonb), :now)""")
_PRUNE = text("DELETE FROM idempotency_keys WHERE created_at < :before")


def claim(tx: Tx, user_id: UUID, key: str) -> bool:
    """Be the only request with this key until the transaction ends; False when a twin is."""
    return bool(tx.run(_CLAIM, user_id=str(user_id), key=key).scalar_one())


def find(tx: Tx, user_id: UUID, key: str) -> Stored | None:
    """The answer stored under a key."""
    row = tx.run(_FIND, user_id=user_id, key=key).one_or_none()
    return Stored(bytes(row.fingerprint), row.status, row.body) if row else None


def add(tx: Tx, user_id: UUID, key: str, answer: Stored, *, now: datetime) -> None:
    """Store an answer.  The caller holds the claim."""
    tx.run(
        _ADD,
        user_id=user_id,
        key=key,
        fingerprint=answer.fingerprint,
        status=answer.status,
        body=json.dumps(answer.body),
        now=now,
    )


def prune(tx: Tx, *, before: datetime) -> int:
    """Forget keys older than that; returns how many."""
    return tx.run(_PRUNE, before=before).rowcount
