"""Objects outside the database: which there are, and when a job last began to store each (docs/adr/0095)."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.domain.objects import Kind
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx

_NOTE = text("""
    INSERT INTO stored_objects (digest, kind, parser_version, size, put_at)
    VALUES (:digest, :kind, :parser_version, :size, :now)
    ON CONFLICT (digest) DO UPDATE SET put_at = greatest(stored_objects.put_at, excluded.put_at) RETURNING id""")
_NAMED = """(EXISTS (SELECT FROM packed_facts f WHERE f.object_id = t.id)
          OR EXISTS (SELECT FROM last_inventories l WHERE l.object_id = t.id))"""
# A job that begins to store an object which is just being deleted waits for its row, and then makes a new one.
_NEXT = text("SELECT max(id) FROM (SELECT id FROM stored_objects WHERE id > :after ORDER BY id LIMIT :most) AS next")
_LOCK = text(f"""
    SELECT id FROM stored_objects t WHERE id > :after AND id <= :upto AND put_at < :before AND NOT {_NAMED}
     ORDER BY id FOR UPDATE SKIP LOCKED""")
_DROP = text(f"DELETE FROM stored_objects t WHERE id = ANY (:ids) AND NOT {_NAMED} RETURNING digest")
_LISTED = text(f"""
    SELECT id, digest, kind, size FROM stored_objects t WHERE id > :after AND {_NAMED} ORDER BY id LIMIT :most""")
_NEWEST = text(f"SELECT id, digest, kind, size FROM stored_objects t WHERE {_NAMED} ORDER BY id DESC LIMIT :most")
# Not the objects' own rows: a job may just have begun to store one of them again.
_FORGET = tuple(
    text(f"{change} object_id IN (SELECT id FROM stored_objects WHERE digest = ANY (CAST(:digests AS bytea[])))")
    for change in ("DELETE FROM packed_facts WHERE", "UPDATE last_inventories SET object_id = NULL WHERE")
)
_IS_NAMED = text(f"SELECT id FROM stored_objects t WHERE id = ANY (:ids) AND {_NAMED}")


class ObjectRow(NamedTuple):
    """An object that some row refers to."""

    id: int
    digest: bytes
    kind: str
    size: int


def note(tx: Tx, digest: bytes, kind: Kind, parser_version: str, *, size: int, now: datetime) -> int:
    """Note that an object is about to be stored, by its id, so that it is not collected meanwhile.

    A transaction of its own, before the object is stored.  Locks: its row.
    """
    noted = tx.run(_NOTE, digest=digest, kind=str(kind), parser_version=parser_version, size=size, now=now)
    return int(noted.scalar_one())


def drop(tx: Tx, after: int | None, most: int, *, before: datetime) -> tuple[Batch, list[bytes]]:
    """Delete the rows of objects that nothing refers to and no job has begun to store since `before`.

    Returns: their digests; the caller deletes the objects before it commits.  Locks: those rows.
    """
    tx.stay_open()  # the store may take longer for its answer than a transaction may be idle
    begin = after or 0
    end = tx.run(_NEXT, after=begin, most=most).scalar_one()
    if end is None:
        return Batch(None, 0), []
    ids = list(tx.run(_LOCK, after=begin, upto=end, before=before).scalars())
    digests = [bytes(digest) for digest in tx.run(_DROP, ids=ids).scalars()] if ids else []
    return Batch(end, len(digests)), digests


def newest(tx: Tx, *, most: int) -> list[ObjectRow]:
    """The objects that were noted last, of those that something refers to."""
    return tx.run(_NEWEST, most=most).values(ObjectRow)


def listed(tx: Tx, after: int, *, most: int) -> list[ObjectRow]:
    """Objects that something refers to, by id."""
    return tx.run(_LISTED, after=after, most=most).values(ObjectRow)


def still_named(tx: Tx, ids: Sequence[int]) -> set[int]:
    """Ids of objects that something still refers to, of those that are given."""
    return set(tx.run(_IS_NAMED, ids=list(ids)).scalars())


def forget(tx: Tx, digests: Collection[bytes]) -> None:
    """Forget what lost objects had, so that it is computed again."""
    for statement in _FORGET:
        tx.write(statement, digests=sorted(digests))
