"""Most rows of an account, which go ahead into the transaction that decides, before the account is locked.

Nobody sees them before that commit.
"""

from __future__ import annotations

from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.cells.rows import JsonRows, Shapes, gather, put, select
from app.store.core.unit_of_work import OvertakenError, Tx

_USER = text(f"WITH person AS (SELECT * FROM users WHERE id = :user_id) {gather('person')}")
_REQUESTS = text("SELECT id, retention_days FROM analysis_requests WHERE user_id = :user_id ORDER BY id")
# Whatever changes a row gives it another xmin; a lock does not.
_BILLS = text("""
    SELECT CAST(coalesce(json_agg(to_json(u) ORDER BY u.id), '[]') AS text) AS rows, count(*) AS number,
           CAST(coalesce(array_agg(u.id), '{}') AS text) AS ids,
           CAST(coalesce(array_agg(u.xmin), '{}') AS text) AS versions
      FROM usage_events u WHERE u.user_id = :user_id""")
# Only what has come since is made JSON of.
_TAKE_BILLS = text("""
    WITH gone AS (DELETE FROM usage_events u WHERE u.user_id = :user_id RETURNING u.id, u.xmin AS version, u AS bill),
    sent AS (SELECT * FROM unnest(CAST(:ids AS bigint[]), CAST(:versions AS xid[])) AS sent(id, version))
    SELECT CAST(coalesce(json_agg(to_json(gone.bill) ORDER BY gone.id) FILTER (WHERE sent.id IS NULL),
                         '[]') AS text) AS rows, count(*) - count(sent.id) AS number, count(sent.id) AS unchanged
      FROM gone LEFT JOIN sent ON sent.id = gone.id AND sent.version = gone.version""")


class Bills(NamedTuple):
    """Bills of before the lock.  ids, versions: of their rows in the source, as arrays' texts."""

    rows: str
    number: int
    ids: str
    versions: str


class _TakenRow(NamedTuple):
    rows: str
    number: int
    unchanged: int


def read_user(tx: Tx, user_id: UUID) -> JsonRows:
    """Read the row of the account, if it is there."""
    return select(tx, _USER, user_id=user_id)


def read_requests(tx: Tx, user_id: UUID) -> dict[int, int | None]:
    """The requests in the account's history, in its order, and for how many days each is kept."""
    return {row.id: row.retention_days for row in tx.run(_REQUESTS, user_id=user_id)}


def read_bills(tx: Tx, user_id: UUID) -> Bills:
    """Read the account's bills, and what tells whether they have changed since."""
    return tx.run(_BILLS, user_id=user_id).value(Bills)


def put_bills(tx: Tx, shape: Shapes, user: JsonRows, bills: Bills) -> None:
    """Insert the account without anything to sign in with, and its bills."""
    put(tx, shape, "users", user)
    put(tx, shape, "usage_events", JsonRows(bills.rows, bills.number))


def take_bills(tx: Tx, user_id: UUID, sent: Bills) -> JsonRows:
    """Delete the account's bills.  -> those that have come since the others were sent.

    Raises: OvertakenError if one of these has changed since.
    """
    taken = tx.run(_TAKE_BILLS, user_id=user_id, ids=sent.ids, versions=sent.versions).value(_TakenRow)
    if taken.unchanged != sent.number:
        raise OvertakenError
    return JsonRows(taken.rows, taken.number)
