"""All that is stored about an account, for its owner, in pages."""

from __future__ import annotations

from collections.abc import Iterator
from uuid import UUID

from app.store.accounts import exporting
from app.store.core.unit_of_work import UnitOfWork


def parts(uow: UnitOfWork, user_id: UUID) -> Iterator[tuple[str, Iterator[str]]]:
    """Export the rows that deleting the account would delete (docs/adr/0042), by part, as JSON objects without hashes.

    Each page of rows has a transaction of its own, so a slow reader holds no connection and no snapshot: a row that
    changes meanwhile is as it was when its page was read (docs/adr/0059).
    """
    return ((part, _rows(uow, user_id, part)) for part in exporting.PARTS)


def size(uow: UnitOfWork, user_id: UUID) -> int:
    """About how many rows a copy has, where a behaviour counts as one."""
    with uow.begin() as tx:
        return exporting.size(tx, user_id)


def _rows(uow: UnitOfWork, user_id: UUID, part: str) -> Iterator[str]:
    after = None
    while True:
        with uow.begin() as tx:
            page = exporting.page(tx, part, user_id, after)
        yield from page.rows
        after = page.after
        if after is None:
            return
