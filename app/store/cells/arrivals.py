"""The last step in the cell to which an account moves, and whether it was made: each move is decided once."""

from __future__ import annotations

from collections.abc import Mapping
from uuid import UUID

from sqlalchemy import text

from app.store.cells.contents import put_codebases
from app.store.cells.rows import NONE, JsonRows, Shapes, put
from app.store.cells.tables import OWN
from app.store.core.unit_of_work import Tx

_DECIDE = text("""
    INSERT INTO arrivals (account_id, epoch, is_refused) VALUES (:user_id, :epoch, :is_refused)
    ON CONFLICT (account_id, epoch) DO NOTHING""")
_DECIDED = text("SELECT is_refused FROM arrivals WHERE account_id = :user_id AND epoch = :epoch")
#: No move has this epoch; it is refused for an account that has lost a part of its rows to a deletion (docs/adr/0097).
CLOSED = 0
_GIVE = {
    "spec_requests": text("""
        UPDATE spec_requests SET user_id = :user_id WHERE job_id = ANY (CAST(:ids AS uuid[]))"""),
    "spec_documents": text("UPDATE spec_documents SET user_id = :user_id WHERE id = ANY (CAST(:ids AS uuid[]))"),
}
#: The event that a delivery tells of.
_EVENT = """(
    SELECT e.id FROM job_events e
     WHERE e.job_id = r.job_id AND e.at = r.happened_at AND e.event = split_part(r.type, '.', 2)
     ORDER BY e.id LIMIT 1)"""
_WORDS = """ON CONFLICT (key) DO UPDATE
       SET words = excluded.words, is_paid = excluded.is_paid, used_at = excluded.used_at, user_id = excluded.user_id"""
#: Table -> columns with other values than they bring.
_VALUES: Mapping[str, Mapping[str, str]] = {"webhook_deliveries": {"event_id": _EVENT}}


def decide(tx: Tx, user_id: UUID, epoch: int, *, refuses: bool) -> bool:
    """Decide a move with the commit of this transaction, unless it was decided before; -> whether this decides it.

    Locks: the decision; it waits for another transaction that is about to decide.
    """
    return tx.run(_DECIDE, user_id=user_id, epoch=epoch, is_refused=refuses).rowcount > 0


def decided(tx: Tx, user_id: UUID, epoch: int) -> bool | None:
    """Whether a move was made, False if it was refused; None: it is not decided."""
    refused: bool | None = tx.run(_DECIDED, user_id=user_id, epoch=epoch).scalar_one_or_none()
    return None if refused is None else not refused


def close(tx: Tx, user_id: UUID) -> None:
    """Keep an account whose deletion begins in this cell.  The caller has locked the users row."""
    decide(tx, user_id, CLOSED, refuses=True)


def is_closed(tx: Tx, user_id: UUID) -> bool:
    """Whether a deletion of the account has begun in this cell.  The caller has locked the users row."""
    return decided(tx, user_id, CLOSED) is not None


def settle_in(
    tx: Tx, shape: Shapes, user_id: UUID, taken: Mapping[str, JsonRows], owned: Mapping[str, list[str]]
) -> str:
    """Insert an account with everything that is its own, but for its requests, and what went ahead.

    taken: table -> rows; owned: of specifications, which are there already without their user.
    -> as `contents.put_codebases`.
    """
    known_as = put_codebases(tx, shape, taken["codebases"])
    changed = ", ".join(f"{column} = excluded.{column}" for column in shape["users"] if column != "id")
    conflicts = {"spec_words": _WORDS, "users": f"ON CONFLICT (id) DO UPDATE SET {changed}"}
    for table in (*reversed(OWN), "analyses", "spec_requests", "spec_documents", "audit_log"):
        put(
            tx, shape, table, taken.get(table, NONE), known_as,
            conflict=conflicts.get(table, ""), values=_VALUES.get(table),
        )  # fmt: skip
    for table, statement in _GIVE.items():
        tx.run(statement, user_id=user_id, ids=owned[table])
    return known_as
