"""What the looks of idle nodes cost the server, by their number: `python -m durable_bench.fleet URL`.

The database has the broker's tables, empty, and is on this machine.  The nodes are names whose locks one session holds,
and another one asks in their place, as often as they would (celery_durable.fleet).
"""

import sys
import time
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg2
from celery_durable.fleet import LOOKS, longest_pause

NODES = (10, 300, 1000)
SECONDS = 6.0
POLL = """
    SELECT *, (SELECT count(*) FROM kombu_node WHERE queues @> ARRAY['celery'])
      FROM durable_poll(ARRAY['celery'], %s, true, now() - interval '1 s', 10)"""
JUDGE = "SELECT * FROM durable_judge(%s, true, 0.95)"
#: Seconds between two polls of a node, and between two looks at the others while one of them holds leases.
POLL_SECONDS, WATCH_SECONDS, FORMER_WATCH_SECONDS = 5.0, 1.0, 1.2
LEASE = """
    INSERT INTO durable_lease (id, queue_id, rank, token, node, until)
    SELECT 1, id, 1, gen_random_uuid(), 1, now() + interval '1 h' FROM durable_queue"""


def main(url: str) -> None:
    """Print a line for each number of nodes, without a lease and with one."""
    with closing(psycopg2.connect(url)) as owner, closing(psycopg2.connect(url)) as asker:
        owner.autocommit = asker.autocommit = True
        sql, ask = owner.cursor(), asker.cursor()
        sql.execute("SELECT to_regproc('durable_judge') IS NOT NULL")
        [(judges,)] = sql.fetchall()
        for number in NODES:
            _fleet(sql, number, shared=judges)
            poll = _cost(ask, POLL, number, number / longest_pause(POLL_SECONDS, number))
            sql.execute(LEASE)
            if judges:
                watched = poll + _cost(ask, JUDGE, number, min(number / WATCH_SECONDS, LOOKS))
            else:
                watched = _cost(ask, POLL, number, number / FORMER_WATCH_SECONDS)
            print(f"{number} nodes: {poll:.4f} of a processor when idle, {watched:.4f} while one of them works")


def _fleet(sql: Any, number: int, *, shared: bool) -> None:
    sql.execute("SELECT pg_advisory_unlock_all(); TRUNCATE kombu_node, durable_lease")
    sql.execute("INSERT INTO durable_queue (name) VALUES ('celery') ON CONFLICT DO NOTHING")
    sql.execute(
        f"INSERT INTO kombu_node (lock, name, queues, prefetch_count)"
        f" SELECT n, 'node', ARRAY['celery'], 10 FROM generate_series(1, %s) AS n;"
        f"SELECT pg_advisory_lock{'_shared' if shared else ''}(lock) FROM kombu_node; ANALYZE kombu_node",
        (number,),
    )


def _cost(ask: Any, statement: str, number: int, rate: float) -> float:
    """Processors that so many looks in a second take; of more than fit into a second it is reckoned."""
    pid, begin, looks = ask.connection.info.backend_pid, time.monotonic(), 0
    used = _nanoseconds(pid)
    while time.monotonic() < begin + SECONDS:
        ask.execute(statement, (2 + looks % (number - 1),))
        looks += 1
        # the rate at which the nodes together would look; what is slept costs no processor
        time.sleep(max(0.0, begin + looks / rate - time.monotonic()))
    return (_nanoseconds(pid) - used) / 1e9 / looks * rate


def _nanoseconds(pid: int) -> int:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


if __name__ == "__main__":
    main(sys.argv[1])
