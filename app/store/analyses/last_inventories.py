"""The last inventory of each repository, of which the next one takes over what has not changed (docs/adr/0090)."""

from __future__ import annotations

from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

#: Bytes of a packed inventory that is stored: of about 200,000 tests.
MOST_BYTES: Final = 8_000_000
#: Of a digest.
SIZE: Final = 32

# It goes with its analysis, so what it takes over is stored.
_LOAD = text("""
    SELECT l.content,
           (SELECT string_agg(coalesce(i.digest, decode(repeat('00', 32), 'hex')), ''::bytea ORDER BY f.ordinal)
              FROM analysis_files f LEFT JOIN file_inventories i ON i.id = f.file_inventory_id
             WHERE f.analysis_id = l.analysis_id) AS digests
      FROM analyses mine JOIN last_inventories l ON l.codebase_id = mine.codebase_id
      JOIN analyses a ON a.id = l.analysis_id AND a.parser_version = :parser_version
     WHERE mine.id = :analysis_id""")
_KEEP = text("""
    INSERT INTO last_inventories (codebase_id, analysis_id, content)
    SELECT codebase_id, id, :content FROM analyses WHERE id = :analysis_id FOR KEY SHARE
    ON CONFLICT (codebase_id) DO UPDATE SET analysis_id = excluded.analysis_id, content = excluded.content""")


class LastInventory(NamedTuple):
    """An inventory as it was packed.  digests: of its files as they are stored, in their order; none before it ends."""

    content: bytes
    digests: tuple[bytes, ...]


def load(tx: Tx, analysis_id: UUID, parser_version: str) -> LastInventory | None:
    """The last inventory by this parser version of the repository of an analysis; None if there is none."""
    row = tx.run(_LOAD, analysis_id=analysis_id, parser_version=parser_version).one_or_none()
    if row is None:
        return None
    digests = bytes(row.digests or b"")
    parts = (digests[start : start + SIZE] for start in range(0, len(digests), SIZE))
    return LastInventory(bytes(row.content), tuple(parts))


def keep(tx: Tx, analysis_id: UUID, content: bytes) -> None:
    """Keep a packed inventory as the last one of its repository, unless it is too large or its analysis is gone.

    Locks: the key of the analysis, and the row of the repository's last inventory.
    """
    if len(content) <= MOST_BYTES:
        tx.run(_KEEP, analysis_id=analysis_id, content=content)
