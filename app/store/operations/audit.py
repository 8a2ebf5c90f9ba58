"""Run the query of one invariant on the live database."""

from __future__ import annotations

from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.store.core.unit_of_work import Tx
from app.store.operations.invariants import Invariant

_CANCELLED = "57014"  # query_canceled: the statement's time limit was reached

_READ_ONLY = text("SET TRANSACTION READ ONLY")
# work_mem is for joins over whole tables: with the default of 4 MB, each is written to files in pieces.  A session with
# a limit of its own keeps it, as a web with cells gives the server up soon after that (app/store/core/deadlines.py).
_BOUNDS = text("""
    SELECT set_config('statement_timeout', least(CAST(:ms AS bigint), nullif(setting, '0')::bigint)::text, true),
           set_config('work_mem', '64MB', true)
      FROM pg_settings WHERE name = 'statement_timeout'""")
_BROKEN = """
    WITH broken AS MATERIALIZED ({broken})
    SELECT (SELECT count(*) FROM broken) AS broken_rows, broken.* FROM broken ORDER BY 2, 3 LIMIT :most"""


class TookTooLongError(Exception):
    """The time limit was reached before the answer, so nothing is known."""


def broken(
    tx: Tx, invariant: Invariant, *, since: datetime | None, most: int, within: timedelta
) -> tuple[int, list[dict[str, Any]]]:
    """The number of rows that violate an invariant, and the first of them.

    It must be the first statement in its transaction, which it makes read-only.  since: leaves out jobs that were
    accepted earlier; within: time for the statement, if its session allows it.  Locks: none.  Raises: TookTooLongError.
    """
    tx.run(_READ_ONLY)
    tx.run(_BOUNDS, ms=int(within.total_seconds() * 1000))
    try:
        found = tx.run(text(_BROKEN.format(broken=invariant.broken)), since=since, most=most).mappings().all()
    except DBAPIError as error:
        if getattr(error.orig, "pgcode", None) == _CANCELLED:
            raise TookTooLongError from error
        raise
    rows = [{name: value for name, value in row.items() if name != "broken_rows"} for row in found]
    return (int(found[0]["broken_rows"]) if found else 0), rows
