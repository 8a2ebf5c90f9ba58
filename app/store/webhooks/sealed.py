"""Secrets that the database keeps encrypted (app/services/webhooks/sealing.py): read them by key, and replace them."""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

_BY_KEY = text("""
    SELECT encode(substring(sealed FROM 1 FOR :size), 'hex') AS key, count(*) AS secrets
      FROM (SELECT secret AS sealed FROM webhooks
            UNION ALL SELECT old_secret FROM webhooks WHERE old_secret IS NOT NULL) AS every
     GROUP BY 1""")
_PART = text("""
    SELECT id, secret, old_secret FROM webhooks WHERE CAST(:after AS uuid) IS NULL OR id > :after
     ORDER BY id LIMIT :most FOR NO KEY UPDATE""")
_REPLACE = text("UPDATE webhooks SET secret = :secret, old_secret = :old_secret WHERE id = :id")


class SealedRow(NamedTuple):
    """The encrypted secrets of a webhook."""

    id: UUID
    secret: bytes
    old_secret: bytes | None


def by_key(tx: Tx, size: int) -> dict[str, int]:
    """How many secrets each key has encrypted, by its id in hexadecimal.  size: bytes of an id."""
    return {row.key: row.secrets for row in tx.run(_BY_KEY, size=size)}


def part(tx: Tx, after: UUID | None, most: int) -> list[SealedRow]:
    """Secrets by id.  Locks: these rows, in that order, as a rotation of a secret locks one."""
    return tx.run(_PART, after=after, most=most).values(SealedRow)


def replace(tx: Tx, row_id: UUID, secret: bytes, old_secret: bytes | None) -> None:
    """Store newly encrypted secrets."""
    tx.write(_REPLACE, id=row_id, secret=secret, old_secret=old_secret)
