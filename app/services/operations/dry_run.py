"""Run a step of maintenance in a transaction of its own, or try it and undo it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from app.store.core.unit_of_work import Tx, UnitOfWork


class _RehearsedError(Exception):
    """Undoes a transaction that was only tried."""


@contextmanager
def step(uow: UnitOfWork, *, dry_run: bool) -> Iterator[Tx]:
    """One transaction; dry_run: it is rolled back, so that its counts are what it would have done."""
    with suppress(_RehearsedError), uow.begin() as tx:
        yield tx
        if dry_run:
            raise _RehearsedError
