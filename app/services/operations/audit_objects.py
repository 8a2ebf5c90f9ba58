"""Check that the objects which rows refer to are in their store, and are what their digests say (docs/adr/0095)."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import timedelta
from time import monotonic

from app.domain.objects import Objects, ObjectsAwayError
from app.services.operations.audit import BROKEN, HOLDS, UNKNOWN, Finding
from app.services.operations.shown_rows import ShownRow
from app.store.analyses import stored_objects
from app.store.analyses.stored_objects import ObjectRow
from app.store.core.unit_of_work import UnitOfWork

#: Objects that are read at once, of up to 8 MB each.
BATCH = 16
#: Objects that are read unless all are wanted: those that were stored last.
SAMPLE = 200
NUMBER, TITLE = "O1", "objects"
SENTENCE = "An object that a row refers to is in the object store.  The next analysis that needs it computes it again."


def audit_objects(
    uow: UnitOfWork, objects: Objects, *, within: timedelta, most: int, sample: int | None = SAMPLE
) -> Finding:
    """Read objects and compare them with their digests.

    sample: how many of those that were stored last, None for all; within: time for all of it; most: rows to show.
    """
    began, lost, status = monotonic(), list[ShownRow](), HOLDS
    try:
        for batch in _batches(uow, sample):
            lost += _lost(uow, objects, batch)
            if monotonic() - began > within.total_seconds():
                status = UNKNOWN
                break
    except ObjectsAwayError:
        status = UNKNOWN
    status = BROKEN if lost else status
    return Finding(NUMBER, TITLE, SENTENCE, status, round(monotonic() - began, 3), len(lost), lost[:most])


def _batches(uow: UnitOfWork, sample: int | None) -> Iterator[Sequence[ObjectRow]]:
    if sample is not None:
        with uow.once() as tx:
            rows = stored_objects.newest(tx, most=sample)
        for start in range(0, len(rows), BATCH):
            yield rows[start : start + BATCH]
        return
    last = 0
    while True:
        with uow.once() as tx:
            rows = stored_objects.listed(tx, last, most=BATCH)
        if not rows:
            return
        yield rows
        last = rows[-1].id


def _lost(uow: UnitOfWork, objects: Objects, batch: Sequence[ObjectRow]) -> list[ShownRow]:
    contents = objects.get([bytes(row.digest) for row in batch])
    missing = [row for row in batch if bytes(row.digest) not in contents]
    if not missing:
        return []
    with uow.once() as tx:  # one that nothing refers to any more may have been deleted meanwhile
        named = stored_objects.still_named(tx, [row.id for row in missing])
    return [
        {"id": row.id, "kind": row.kind, "digest": bytes(row.digest).hex(), "size": row.size}
        for row in missing
        if row.id in named
    ]
