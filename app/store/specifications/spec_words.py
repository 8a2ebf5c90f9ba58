"""Stored places and sentences: stored ones cost nothing again (docs/adr/0047)."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from sqlalchemy import text

from app.domain.specification import Place, Shelf
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx

#: How many keys one statement has.
AT_ONCE = 5_000

_KNOWN = text("""
    SELECT key, words FROM spec_words
     WHERE key = ANY (CAST(:keys AS bytea[]))""")
_PAID = text("SELECT count(*) FROM spec_words WHERE key = ANY (CAST(:keys AS bytea[])) AND is_paid")
# In the order of keys, so that two jobs of one repository do not deadlock.  If two jobs find the same words, the first
# one's are stored.
_KEEP = text("""
    INSERT INTO spec_words (key, codebase_id, user_id, words, is_paid)
    SELECT key, :codebase_id, :user_id, words, :is_paid
      FROM unnest(CAST(:keys AS bytea[]), CAST(:words AS jsonb[])) AS n(key, words) ORDER BY key
    ON CONFLICT (key) DO NOTHING""")
# Newly written words replace the existing ones only once they are paid for: paid words stay paid for.
_REPLACE = text("""
    WITH fresh AS (
        DELETE FROM spec_words w USING unnest(CAST(:fresh AS bytea[]), CAST(:keys AS bytea[])) AS n(fresh, key)
         WHERE w.key = n.fresh RETURNING n.key, w.words)
    INSERT INTO spec_words (key, codebase_id, user_id, words, is_paid, used_at)
    SELECT key, :codebase_id, :user_id, words, true, :now FROM fresh ORDER BY key
    ON CONFLICT (key) DO UPDATE
       SET words = excluded.words, is_paid = true, used_at = excluded.used_at""")
_PAY = text("""
    WITH due AS (
        SELECT key FROM spec_words WHERE key = ANY (CAST(:keys AS bytea[])) AND NOT is_paid ORDER BY key FOR UPDATE)
    UPDATE spec_words w SET is_paid = true, used_at = :now FROM due WHERE w.key = due.key""")
_USE = text("""
    WITH stale AS (
        SELECT key FROM spec_words
         WHERE key = ANY (CAST(:keys AS bytea[])) AND used_at < :now - interval '1 day'
         ORDER BY key FOR NO KEY UPDATE SKIP LOCKED)
    UPDATE spec_words w SET used_at = :now FROM stale WHERE w.key = stale.key""")
_DROP = text("""
    WITH next AS MATERIALIZED (SELECT key, used_at FROM spec_words WHERE key > :after ORDER BY key LIMIT :most),
    old AS (SELECT w.key FROM spec_words w JOIN next USING (key)
             WHERE next.used_at < :before ORDER BY w.key FOR UPDATE OF w SKIP LOCKED),
    gone AS (DELETE FROM spec_words w USING old WHERE w.key = old.key RETURNING 1)
    SELECT key, (SELECT count(*) FROM gone) AS rows FROM next ORDER BY key DESC LIMIT 1""")


def places(tx: Tx, keys: Sequence[bytes]) -> dict[bytes, Place]:
    """Stored places, by key."""
    return {key: Place(*words) for key, words in _known(tx, keys)}


def sentences(tx: Tx, keys: Sequence[bytes]) -> dict[bytes, str]:
    """Stored sentences and summaries, by key."""
    return {key: str(words) for key, words in _known(tx, keys)}


def _known(tx: Tx, keys: Sequence[bytes]) -> Iterator[tuple[bytes, Any]]:
    for some in batched_keys(keys):
        yield from ((bytes(row.key), row.words) for row in tx.run(_KNOWN, keys=some))


def keep(tx: Tx, shelf: Shelf, words: Mapping[bytes, object], *, is_paid: bool) -> None:
    """Store what a job has found.  is_paid: it is never billed.  Locks: no existing row."""
    tx.run(
        _KEEP,
        codebase_id=shelf.codebase_id,
        user_id=shelf.user_id or shelf.fresh_for,
        keys=list(words),
        words=[json.dumps(one) for one in words.values()],
        is_paid=is_paid,
    )


def replace(tx: Tx, shelf: Shelf, keys: Sequence[tuple[bytes, bytes]], *, now: datetime) -> None:
    """Replace stored words by newly written ones that are billed now.

    keys: (where they are, where they go).  Locks: both rows of each.
    """
    for begin in range(0, len(keys), AT_ONCE):
        some = keys[begin : begin + AT_ONCE]
        tx.run(
            _REPLACE,
            fresh=[fresh for fresh, _ in some],
            keys=[key for _, key in some],
            codebase_id=shelf.codebase_id,
            user_id=shelf.user_id,
            now=now,
        )


def unpaid(tx: Tx, keys: Sequence[bytes]) -> int:
    """How many of these a document would be billed: all but those that some document has paid for."""
    return len(keys) - sum(int(tx.run(_PAID, keys=some).scalar_one()) for some in batched_keys(keys))


def pay(tx: Tx, keys: Sequence[bytes], *, now: datetime) -> int:
    """Mark the words of a document as paid.  Returns: how many were not.  Locks: those rows."""
    return sum(tx.run(_PAY, keys=some, now=now).rowcount for some in batched_keys(keys))


def use(tx: Tx, keys: Sequence[bytes], *, now: datetime) -> None:
    """Note the day on which words were used, so that pruning keeps them."""
    for some in batched_keys(keys):
        tx.run(_USE, keys=some, now=now)


def drop(tx: Tx, after: bytes | None, most: int, *, before: datetime) -> Batch:
    """Delete words that were not used since then; a job that needs them finds them again.  Locks: those rows."""
    last = tx.run(_DROP, after=after or b"", most=most, before=before).one_or_none()
    return Batch(None, 0) if last is None else Batch(bytes(last.key), last.rows)


def batched_keys(keys: Sequence[bytes]) -> Iterator[list[bytes]]:
    """Split them into the parts that one statement takes."""
    yield from (list(keys[begin : begin + AT_ONCE]) for begin in range(0, len(keys), AT_ONCE))
