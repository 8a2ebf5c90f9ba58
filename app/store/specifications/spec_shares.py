"""Links with which anybody may read a specification, stored as hashes."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_PUT = text("""
    INSERT INTO spec_shares (secret_hash, document_id, created_at) VALUES (:secret_hash, :document_id, :now)
    ON CONFLICT (document_id) DO UPDATE SET secret_hash = excluded.secret_hash, created_at = excluded.created_at""")
_DROP = text("DELETE FROM spec_shares WHERE document_id = :document_id")
_SINCE = text("SELECT created_at FROM spec_shares WHERE document_id = :document_id")
_FIND = text("SELECT document_id FROM spec_shares WHERE secret_hash = :secret_hash")


def put(tx: Tx, document_id: UUID, secret_hash: bytes, *, now: datetime) -> None:
    """Share a document with this secret, which replaces an earlier one.  secret_hash: 32 bytes."""
    tx.write(_PUT, document_id=document_id, secret_hash=secret_hash, now=now)


def drop(tx: Tx, document_id: UUID) -> None:
    """Stop sharing a document."""
    tx.write(_DROP, document_id=document_id)


def since(tx: Tx, document_id: UUID) -> datetime | None:
    """When the link of a document was created; None: there is none."""
    found: datetime | None = tx.run(_SINCE, document_id=document_id).scalar_one_or_none()
    return found


def find(tx: Tx, secret_hash: bytes) -> UUID | None:
    """The document that a secret shares."""
    found: UUID | None = tx.run(_FIND, secret_hash=secret_hash).scalar_one_or_none()
    return found
