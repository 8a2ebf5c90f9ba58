"""Ask one invariant of the live database."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.store.invariants import Invariant
from app.store.unit_of_work import Tx

_CANCELLED = "57014"  # query_canceled: the statement's time was over

_READ_ONLY = text("SET TRANSACTION READ ONLY")
# Joins over whole tables: with the default of 4 MB each of them is written to files in pieces.
_BOUNDS = text("SELECT set_config('statement_timeout', :ms, true), set_config('work_mem', '64MB', true)")
_BROKEN = """
    WITH broken AS MATERIALIZED ({broken})
    SELECT (SELECT count(*) FROM broken) AS broken_rows, broken.* FROM broken ORDER BY 2, 3 LIMIT :most"""


class TookTooLongError(Exception):
    """The time given was over before the answer; nothing is known."""


def broken(
    tx: Tx, invariant: Invariant, *, since: datetime | None, most: int, within: timedelta
) -> tuple[int, list[dict[str, Any]]]:
    """How many rows break it, and the first of them.  Must be the first in its transaction, which it makes read-only.

    since: leaves out what began before; within: of the statement.  Locks: none.  Raises: TookTooLongError.
    """
    tx.run(_READ_ONLY)
    tx.run(_BOUNDS, ms=str(int(within.total_seconds() * 1000)))
    try:
        found = tx.run(text(_BROKEN.format(broken=invariant.broken)), since=since, most=most).mappings().all()
    except DBAPIError as error:
        if getattr(error.orig, "pgcode", None) == _CANCELLED:
            raise TookTooLongError from error
        raise
    rows = [{name: value for name, value in row.items() if name != "broken_rows"} for row in found]
    return (int(found[0]["broken_rows"]) if found else 0), rows
