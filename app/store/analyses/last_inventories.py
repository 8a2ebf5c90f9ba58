"""The last inventory of each repository, of which the next one takes over what has not changed (docs/adr/0090)."""

from __future__ import annotations

from typing import Final, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

#: Bytes of a packed inventory that is stored: of about 200,000 tests.
MOST_BYTES: Final = 8_000_000
#: From which on it is an object, if there is a store of objects.
WORTH_AN_OBJECT: Final = 16_000
#: Of a digest.
SIZE: Final = 32

# It goes with its analysis, so what it takes over is stored.
_LOAD = text("""
    SELECT l.content, o.digest AS object,
           (SELECT string_agg(coalesce(i.digest, decode(repeat('00', 32), 'hex')), ''::bytea ORDER BY f.ordinal)
              FROM analysis_files f LEFT JOIN file_inventories i ON i.id = f.file_inventory_id
             WHERE f.analysis_id = l.analysis_id) AS digests
      FROM analyses mine JOIN last_inventories l ON l.codebase_id = mine.codebase_id
      JOIN analyses a ON a.id = l.analysis_id AND a.parser_version = :parser_version
      LEFT JOIN stored_objects o ON o.id = l.object_id
     WHERE mine.id = :analysis_id""")
_KEEP = text("""
    INSERT INTO last_inventories (codebase_id, analysis_id, content, object_id)
    SELECT codebase_id, id, :content, :object_id FROM analyses WHERE id = :analysis_id FOR KEY SHARE
    ON CONFLICT (codebase_id) DO UPDATE
       SET analysis_id = excluded.analysis_id, content = excluded.content, object_id = excluded.object_id""")


class LastInventory(NamedTuple):
    """An inventory as it was packed.

    content: empty if it is in an object; digests: of its files as they are stored, in their order; none before it ends;
    object: the digest of the object.
    """

    content: bytes
    digests: tuple[bytes, ...]
    object: bytes | None = None


def load(tx: Tx, analysis_id: UUID, parser_version: str) -> LastInventory | None:
    """The last inventory by this parser version of the repository of an analysis; None if there is none."""
    row = tx.run(_LOAD, analysis_id=analysis_id, parser_version=parser_version).one_or_none()
    if row is None:
        return None
    digests = bytes(row.digests or b"")
    parts = (digests[start : start + SIZE] for start in range(0, len(digests), SIZE))
    return LastInventory(bytes(row.content), tuple(parts), None if row.object is None else bytes(row.object))


def keep(tx: Tx, analysis_id: UUID, content: bytes, *, object_id: int | None = None) -> None:
    """Keep a packed inventory as the last one of its repository, unless its analysis is gone.

    content: empty if an object has it.  Locks: the key of the analysis, and the row of the repository's last inventory.
    """
    tx.run(_KEEP, analysis_id=analysis_id, content=content, object_id=object_id)
