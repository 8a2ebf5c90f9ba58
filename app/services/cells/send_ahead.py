"""Send most of an account ahead, into the transaction that decides, while the account works."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.services.cells.copy_contents import Copied
from app.store.cells import early_rows, histories
from app.store.cells.early_rows import Bills
from app.store.cells.rows import Shapes
from app.store.core.unit_of_work import Tx, UnitOfWork


@dataclass(frozen=True, slots=True)
class Sent:
    """Rows of before the account was locked.  placed: accept records, by their ids in the source."""

    bills: Bills
    placed: frozenset[int]


def send_ahead(source: UnitOfWork, there: Tx, shape: Shapes, user_id: UUID, copied: Copied) -> Sent:
    """Insert the account with its bills, and give it its accept records.  there: seen by nobody before its commit."""
    with source.begin() as tx:
        user = early_rows.read_user(tx, user_id)
        bills = early_rows.read_bills(tx, user_id)
        placed = [one for one in early_rows.read_requests(tx, user_id) if one in copied.placed]
    early_rows.wait_for_source(there)
    early_rows.put_bills(there, shape, user, bills)
    histories.give(there, user_id, [copied.places[one] for one in placed])
    return Sent(bills, frozenset(placed))
