"""Months without a part, dead rows, large indexes and old statistics, and what mends them while the service runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sqlalchemy import Connection

from app.services.operations.doctor.check import CannotMendError, Check, Instruments
from app.services.operations.keep_months import keep_months
from app.services.operations.shown_rows import ShownRow
from app.store.operations.faults import tables, upkeep

#: Rows: with fewer it does not matter how many of them are dead, or how old the statistics are.
ROWS = 10_000
#: Bytes: a smaller index is in memory in any case.
BYTES = 64 * 1024 * 1024

_Act = Callable[[Connection, str], None]


def _each(instruments: Instruments, rows: Sequence[ShownRow], act: _Act, what: str) -> list[str]:
    """Do something to each row's table or index, as its owner.  Raises: CannotMendError."""
    owner, done = instruments.as_owner(), list[str]()
    with owner.begin() as tx:
        owned = {row.name for row in tx.run(tables.TABLES) if row.is_owned}
    if strange := sorted({str(row["table"]) for row in rows} - owned):
        raise CannotMendError(f"the role does not own {', '.join(strange)}: set DATABASE_OWNER_URL")
    with upkeep.unhurried(owner.engine) as connection:
        for row in rows:
            act(connection, str(row[what]))
            done.append(str(row[what]))
    return done


def _vacuum(instruments: Instruments, rows: Sequence[ShownRow]) -> str:
    done = f"vacuumed: {', '.join(_each(instruments, rows, upkeep.vacuum, 'table'))}"
    old = [f"process {row['pid']} ({row['program']})" for row in instruments.rows(tables.OLD_TRANSACTIONS)]
    return f"{done}; old transactions keep dead rows: {', '.join(old)}" if old else done


def _reindex(instruments: Instruments, rows: Sequence[ShownRow]) -> str:
    return f"built anew: {', '.join(_each(instruments, rows, upkeep.reindex, 'index'))}"


def _analyze(instruments: Instruments, rows: Sequence[ShownRow]) -> str:
    return f"analyzed: {', '.join(_each(instruments, rows, upkeep.analyze, 'table'))}"


def _make_months(instruments: Instruments, rows: Sequence[ShownRow]) -> str:  # noqa: ARG001 - of all months
    if (done := keep_months(instruments.uow, now=instruments.uow.now())) is None:
        raise CannotMendError("the table is in use for longer than half a second: try it again")
    return f"made: {', '.join(done.made) or 'nothing'}; dropped: {', '.join(done.dropped) or 'nothing'}"


CHECKS = (
    Check(
        "months",
        "the parts of webhook_deliveries for this month and the next one, and whether what was delivered is in them",
        "No delivery is refused, but those in no month's part are deleted row by row instead of being dropped.",
        "See in the log whether beat sends `prune` each day, and whether it says `months_in_use`.",
        lambda instruments: instruments.rows(tables.MONTHS),
        _make_months,
    ),
    Check(
        "dead rows",
        "tables of which more than a third is dead rows, which no vacuum removes",
        "Statements read rows that nobody needs: autovacuum is off or too slow, or an old transaction keeps them.",
        "End transactions that are hours old (`SELECT pid, xact_start FROM pg_stat_activity ORDER BY xact_start`), drop"
        " replication slots that nobody reads, and give autovacuum more workers.",
        lambda instruments: instruments.rows(tables.DEAD_ROWS, rows=ROWS),
        _vacuum,
        same=("table",),
    ),
    Check(
        "bloated indexes",
        "indexes above 64 MB that are more than twice as large as their entries need, by estimate",
        "Reads and backups of an index take twice as long as they should.",
        "Run `REINDEX INDEX CONCURRENTLY NAME` as the owner.",
        lambda instruments: instruments.rows(tables.LARGE_INDEXES, bytes=BYTES),
        _reindex,
        same=("index",),
    ),
    Check(
        "old statistics",
        "tables of which more than a fifth has changed, ten minutes or more after the last ANALYZE",
        "The planner guesses by numbers of before, and may read whole tables.",
        "Switch autovacuum on, or give it more workers.",
        lambda instruments: instruments.rows(tables.OLD_STATISTICS, rows=ROWS),
        _analyze,
        same=("table",),
    ),
)
