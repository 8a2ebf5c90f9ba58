"""The names of tables in the texts of statements."""

from .options import Options

#: Rows promoted or handed back by one statement; the rest follows at once in the next.
BATCH = 500
#: Messages of a group parked by one statement: half a second.
MOST_PARKED = 10_000
#: How long a group that was parked by a publish is left alone.
PROBE_SECONDS = 30.0
#: Of the functions: see functions.py.
SETTINGS = "SET enable_seqscan = off SET enable_bitmapscan = off SET jit = off"


def fill(statement: str, options: Options) -> str:
    """Put the names of an application's tables into a statement of this package."""
    return statement.format(
        message=options.message_tablename,
        name=options.message_tablename.rpartition(".")[2],
        queue=options.queue_tablename,
        group=options.group_tablename,
        node=options.node_tablename,
        dead_letter=options.dead_letter_tablename,
        dead_letter_name=options.dead_letter_tablename.rpartition(".")[2],
        broadcast=options.broadcast_tablename,
        broadcast_name=options.broadcast_tablename.rpartition(".")[2],
        channel=options.channel,
        batch=BATCH,
        most_parked=MOST_PARKED,
        probe=PROBE_SECONDS,
        settings=SETTINGS,
    )
