"""Send most of an account ahead, into the transaction that decides, while the account works."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.services.cells.copy_contents import Copied, send_events
from app.store.cells import contents, copies, early_rows, histories
from app.store.cells.early_rows import Bills
from app.store.cells.rows import Shapes
from app.store.core.unit_of_work import Tx, UnitOfWork


@dataclass(frozen=True, slots=True)
class Sent:
    """Rows of before the account was locked.

    placed: accept records, by their ids in the source; unfinished: jobs whose timelines came.
    """

    bills: Bills
    placed: frozenset[int]
    unfinished: frozenset[UUID]


def send_ahead(source: UnitOfWork, there: Tx, shape: Shapes, user_id: UUID, copied: Copied) -> Sent:
    """Insert the account with its bills, and give it its accept records.  there: seen by nobody before its commit.

    Raises: OvertakenError.
    """
    with source.begin() as tx:
        user = early_rows.read_user(tx, user_id)
        bills = early_rows.read_bills(tx, user_id)
        kept = early_rows.read_requests(tx, user_id)
        held = copies.found(tx, copied.jobs, user_id)
    placed = [one for one in kept if one in copied.placed]
    there.stay_open()  # until the account is locked and has left; only pruning waits for what it holds of others
    early_rows.put_bills(there, shape, user, bills)
    histories.give(there, user_id, {copied.places[one]: kept[one] for one in placed})
    copies.hold(there, held)
    unfinished = send_events(source, there, shape, user_id, copied)
    untold = contents.untold(there, user_id)
    with source.begin() as tx:
        accepts = contents.read_accepts(tx, user_id, untold)
    contents.tell(there, accepts)
    return Sent(bills, frozenset(placed), unfinished)
