"""Run a statement that looks for a fault on the live database."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta

from sqlalchemy import TextClause, text

from app.store.core.unit_of_work import Tx

#: Rows of each fault that are shown; it needs no more to be found.
MOST = 100
_READ_ONLY = text("SET TRANSACTION READ ONLY")
_BOUND = text("SELECT set_config('statement_timeout', :ms, true)")


def find(tx: Tx, fault: TextClause, *, within: timedelta, **values: object) -> list[Mapping[str, object]]:
    """The first rows that a statement finds.

    It must be the first in its transaction, which it makes read-only.  within: time for the statement.  Locks: none.
    Raises: DBAPIError, with SQLSTATE 57014 when the time was over.
    """
    tx.run(_READ_ONLY)
    tx.run(_BOUND, ms=str(int(within.total_seconds() * 1000)))
    return [dict(row) for row in tx.run(fault, most=MOST, **values).mappings()]
