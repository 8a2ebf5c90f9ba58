"""Which facts are in objects outside the database, beside those that are rows (docs/adr/0095)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from sqlalchemy import text

from app.domain.fact_packs import FactsKey
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx

_KEYS = "unnest(CAST(:blob_ids AS text[]), CAST(:languages AS text[])) AS k(blob_id, language)"
# A file whose facts are in several objects is read from the newest.
_FIND = text(f"""
    SELECT f.blob_id, f.language, f.facts, NULL::bytea AS digest FROM blob_facts f
      JOIN {_KEYS} ON f.blob_id = k.blob_id AND f.language = k.language WHERE f.parser_version = :parser_version
    UNION ALL
    (SELECT DISTINCT ON (p.blob_id, p.language) p.blob_id, p.language, NULL::jsonb, o.digest FROM packed_facts p
       JOIN {_KEYS} ON p.blob_id = k.blob_id AND p.language = k.language
       JOIN stored_objects o ON o.id = p.object_id
      WHERE o.parser_version = :parser_version ORDER BY p.blob_id, p.language, p.object_id DESC)""")
_ADD = text(f"""
    INSERT INTO packed_facts (blob_id, language, object_id) SELECT k.blob_id, k.language, :object_id FROM {_KEYS}
     ORDER BY 1, 2  -- two workers adding the same facts must not deadlock
    ON CONFLICT DO NOTHING""")
# Another worker that moves the same rows has them in an object as well.
_DROP_ROWS = text(f"""
    WITH moved AS (
        SELECT f.blob_id, f.language FROM blob_facts f
          JOIN {_KEYS} ON f.blob_id = k.blob_id AND f.language = k.language
         WHERE f.parser_version = :parser_version ORDER BY f.blob_id, f.language FOR UPDATE OF f SKIP LOCKED)
    DELETE FROM blob_facts f USING moved m
     WHERE f.blob_id = m.blob_id AND f.language = m.language AND f.parser_version = :parser_version""")
_DROP = text("""
    WITH next AS MATERIALIZED (
        SELECT p.blob_id, p.language, p.object_id, o.parser_version, o.put_at FROM packed_facts p
          JOIN stored_objects o ON o.id = p.object_id
         WHERE (p.blob_id, p.language, p.object_id) > (:blob_id, :language, :object_id)
         ORDER BY p.blob_id, p.language, p.object_id LIMIT :most),
    gone AS (
        DELETE FROM packed_facts p USING next n
         WHERE p.blob_id = n.blob_id AND p.language = n.language AND p.object_id = n.object_id AND n.put_at < :before
           AND NOT EXISTS (SELECT FROM file_inventories i
                            WHERE i.blob_id = n.blob_id AND i.parser_version = n.parser_version) RETURNING 1)
    SELECT blob_id, language, object_id, (SELECT count(*) FROM gone) AS rows FROM next
     ORDER BY blob_id DESC, language DESC, object_id DESC LIMIT 1""")


class PlacedFacts(NamedTuple):
    """Facts of a file in one language, or the digest of the object that has them."""

    blob_id: str
    language: str
    facts: Any
    digest: bytes | None


def find(tx: Tx, keys: Sequence[FactsKey], parser_version: str) -> list[PlacedFacts]:
    """Stored facts, wherever they are; unknown keys are left out."""
    return tx.run(_FIND, parser_version=parser_version, **_columns(keys)).values(PlacedFacts)


def add(tx: Tx, keys: Collection[FactsKey], object_id: int) -> None:
    """Say that an object has these facts.  Locks: the object's key."""
    tx.write(_ADD, object_id=object_id, **_columns(keys))


def drop_rows(tx: Tx, keys: Collection[FactsKey], parser_version: str) -> None:
    """Delete the rows of facts that an object has.  Locks: them, skipping those that are locked."""
    tx.write(_DROP_ROWS, parser_version=parser_version, **_columns(keys))


def drop(tx: Tx, after: tuple[str, str, int] | None, most: int, *, before: datetime) -> Batch:
    """Forget facts in objects older than `before`, of contents that no file has."""
    blob_id, language, object_id = after or ("", "", 0)
    given = {"blob_id": blob_id, "language": language, "object_id": object_id}
    last = tx.run(_DROP, most=most, before=before, **given).one_or_none()
    return Batch(None, 0) if last is None else Batch((last.blob_id, last.language, last.object_id), last.rows)


def _columns(keys: Collection[FactsKey]) -> dict[str, list[str]]:
    return {"blob_ids": [blob_id for blob_id, _ in keys], "languages": [language for _, language in keys]}
