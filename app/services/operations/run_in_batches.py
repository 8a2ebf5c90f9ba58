"""Run long work in batches that hold their locks briefly, however slow the machine is."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from time import monotonic
from typing import Any
from uuid import UUID

from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx, UnitOfWork

#: Rows of the first, the smallest and the largest batch.  Deleting a row with its dependants costs fifty times as much
#: as reading it: after many reads, a batch of 2,000 deletions took 0.3 s.
FIRST, LEAST, MOST = 100, 10, 400
#: A batch that took longer makes the next one smaller; one that took less than a quarter of this makes it larger.
SECONDS = 0.03

#: (transaction, where the previous batch ended or None, rows) -> the result of the batch.
BatchStep = Callable[[Tx, Any, int], Batch]


def in_batches(uow: UnitOfWork, do: BatchStep, *, dry_run: bool = False) -> int:
    """Run a step until nothing is left, each batch in a transaction of its own.  Returns: how many rows it changed."""
    after, rows, total = None, FIRST, 0
    while True:
        began = monotonic()
        with step(uow, dry_run=dry_run) as tx:
            batch = do(tx, after, rows)
        total += batch.rows
        if batch.after is None:
            return total
        after, rows = batch.after, _next(rows, monotonic() - began)


def each(uow: UnitOfWork, ids: Sequence[UUID], do: Callable[[Tx, Sequence[UUID]], int]) -> int:
    """Run a step over these ids in batches; do: returns how many rows it changed."""

    def some(tx: Tx, after: int | None, most: int) -> Batch:
        begin = after or 0
        part = ids[begin : begin + most]
        return Batch(begin + len(part) if part else None, do(tx, part) if part else 0)

    return in_batches(uow, some)


def _next(rows: int, seconds: float) -> int:
    if seconds > SECONDS:  # reduce it in proportion, and at least by half
        return max(LEAST, min(rows // 2, int(rows * SECONDS / seconds)))
    return min(MOST, rows * 2) if seconds < SECONDS / 4 else rows


class _RehearsedError(Exception):
    """Undoes a transaction that was only tried."""


@contextmanager
def step(uow: UnitOfWork, *, dry_run: bool) -> Iterator[Tx]:
    """Run one step in one transaction; dry_run: it is rolled back, so that its counts are what it would have done."""
    with suppress(_RehearsedError), uow.begin() as tx:
        yield tx
        if dry_run:
            raise _RehearsedError
