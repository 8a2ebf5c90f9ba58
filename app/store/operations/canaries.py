"""Read every text that the database keeps, as it would be in a dump.

The search runs on our side: a secret in a statement would be in the server's list of statements, and possibly in its
log.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from sqlalchemy import text
from sqlalchemy.exc import DBAPIError

from app.store.accounts.credentials import hashed
from app.store.core.unit_of_work import Tx
from app.store.operations.audit import TookTooLongError

_BATCH = 500
_CANCELLED = "57014"

_BOUNDS = text("SELECT set_config('transaction_read_only', 'on', true), set_config('statement_timeout', :ms, true)")
# Another session's temporary tables cannot be read, and contain nothing that is not elsewhere.
_TABLES = text("""
    SELECT format('%I.%I', n.nspname, c.relname) FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
     WHERE c.relkind IN ('r', 'm') AND n.nspname NOT IN ('pg_catalog', 'information_schema')
       AND n.nspname !~ '^pg_(toast|temp)' AND has_table_privilege(c.oid, 'SELECT')
     ORDER BY c.relpersistence = 'p', 1""")
_ROWS = "DECLARE looked_through NO SCROLL CURSOR FOR SELECT ctid::text, whole_row::text AS words FROM {table} whole_row"
_FETCH = text(f"FETCH {_BATCH} FROM looked_through")
# What else a dump or another role can read: sources of functions, comments, settings of roles, running statements.
_OTHERS = text("""
    SELECT 'function ' || p.oid::regprocedure AS place, '' AS id, p.prosrc AS words
      FROM pg_proc p JOIN pg_namespace n ON n.oid = p.pronamespace
     WHERE n.nspname NOT IN ('pg_catalog', 'information_schema')
    UNION ALL SELECT 'comment', objoid::text, description FROM pg_description WHERE objoid > 16384
    UNION ALL SELECT 'pg_db_role_setting', setrole::regrole::text, setconfig::text FROM pg_db_role_setting
    UNION ALL SELECT 'pg_stat_activity', pid::text, concat_ws(' ', application_name, query) FROM pg_stat_activity""")
_KNOWN = text("SELECT id FROM api_tokens WHERE token_hash = :hash")


def tables(tx: Tx) -> list[str]:
    """Every readable table, quoted; first the unlogged ones, whose rows may soon be gone."""
    return list(tx.run(_TABLES).scalars())


def rows(tx: Tx, table: str, *, within: timedelta) -> Iterator[list[tuple[str, str]]]:
    """(ctid, text) of every row of a table from `tables`, a part at a time, in a read-only transaction of its own.

    Locks: none that a writer waits for.  Raises: TookTooLongError.
    """
    tx.run(_BOUNDS, ms=str(max(1, int(within.total_seconds() * 1000))))
    try:
        tx.connection.exec_driver_sql(_ROWS.format(table=table))
        while found := tx.run(_FETCH).all():
            yield [(str(row.ctid), str(row.words)) for row in found]
    except DBAPIError as error:
        if getattr(error.orig, "pgcode", None) == _CANCELLED:
            raise TookTooLongError from error
        raise


def others(tx: Tx) -> list[tuple[str, str, str]]:
    """(place, row, text) of everything outside the tables that is kept, or that others can see."""
    return [(str(row.place), str(row.id), row.words or "") for row in tx.run(_OTHERS)]


def tokens(tx: Tx, words: set[str]) -> set[str]:
    """Select the words that are tokens, whether valid or revoked."""
    return {word for word in sorted(words) if tx.run(_KNOWN, hash=hashed(word)).all()}
