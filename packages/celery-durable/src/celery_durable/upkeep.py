"""Look after the queues once, as an idle node does, where no node does it.

    for _ in range(2):                              # a node is judged in two looks, a second apart
        look(connection)
        connection.commit()

A look makes ready what is due, takes back leases that have ended, wakes a message of each group that was left alone,
and takes back what dead nodes hold.
"""

from collections.abc import Mapping
from typing import Any

from .database import runner
from .names import fill
from .options import read_options

#: Between two looks, so that the second one judges a node that the first one has found without its lock.
SECONDS = 1.0

_JUDGE = "SELECT moved FROM {schema}durable_judge(NULL, true, 0)"
_POLL = """
    SELECT clock FROM {schema}durable_poll(
        ARRAY(SELECT name::text FROM {schema}durable_queue ORDER BY id), NULL, true, NULL)"""
_SECONDS_UP = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time())"
#: After a restart of the server nodes need some seconds to take their locks again (session.py).
SETTLED_SECONDS = 15.0


def look(connection: Any, *, options: Mapping[str, Any] | None = None) -> bool:
    """Look once, in the caller's transaction.  -> False, and nothing is done, just after a start of the server.

    connection, options: as for `producer_in`.  Locks: what a node's poll locks: the rows that it moves and those of
    their messages, skipping locked ones; the lock of each dead node.
    """
    run, named = runner(connection), read_options(options or {})
    [(seconds,)] = run(_SECONDS_UP, {})
    if seconds < SETTLED_SECONDS:
        return False
    run(fill(_JUDGE, named), {})
    run(fill(_POLL, named), {})
    return True
