"""What the server pays for a message, release beside release: `python -m durable_bench.exchange NAME=URL [NAME=URL]`.

Each database has the tables of its release, empty, and is on this machine, where nothing else should run.  They take
turns.  A figure is the median of the rounds: microseconds of the session's process and bytes of the log, a message.
"""

import sys
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from statistics import median
from typing import Any
from uuid import uuid4

import psycopg2

QUEUE, PAYLOAD = "celery", "x" * 700
#: Messages of a claim -> messages of a round.
BATCHES = {1: 1_500, 8: 4_000, 64: 12_800}
PUBLISHED, ROUNDS, WARM = 1_500, 7, 400
#: Waiting when the log is measured after a checkpoint, and claimed then, 16 at a time.
CROWD, AFTER_CHECKPOINT = 150_000, 4_800
#: Version 8 named the functions anew.
NAMES = "SELECT CASE WHEN to_regproc('durable_claim') IS NULL THEN 'kombu_message_' ELSE 'durable_' END"
TABLES = """
    SELECT string_agg(relname, ', ') FROM pg_class
     WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
       AND relname ~ '^(durable|kombu_(message|queue))'"""
ADD_QUEUE = "SELECT {}('celery')"
FILL = """
    SELECT count(*) FROM {}publish_many(
        array_fill('celery'::text, ARRAY[%(n)s]), array_fill(%(payload)s::text, ARRAY[%(n)s]),
        ARRAY(SELECT gen_random_uuid()::text FROM generate_series(1, %(n)s)), array_fill(NULL::text, ARRAY[%(n)s]),
        array_fill(NULL::text, ARRAY[%(n)s]), array_fill(NULL::float8, ARRAY[%(n)s]), array_fill(100, ARRAY[%(n)s]))"""
EXCHANGE = """
    PREPARE exchange (bigint[], uuid[], int, bigint) AS
    SELECT message_id, token, place
      FROM {0}settle($1, $2, '{{}}', '{{}}', '{{}}', false) AS settled
      LEFT JOIN LATERAL {0}claim('celery', $3, NULL, 60, $4, 0) AS claimed ON true"""
PUBLISH = "SELECT {}publish('celery', %s, %s, NULL, NULL, NULL, 100, 'celery')"


class Server:
    """One release: a session, and what it uses."""

    def __init__(self, url: str) -> None:
        self.connection = psycopg2.connect(url)
        self.connection.autocommit = True
        self.cursor = self.connection.cursor()
        self.ask("SET synchronous_commit = off")
        [(self.prefix,)] = self.ask(NAMES)
        [(self.tables,)] = self.ask(TABLES)
        add = "durable_queue_add" if self.prefix == "durable_" else "kombu_queue_add"
        self.ask(ADD_QUEUE.format(add))
        self.ask(EXCHANGE.format(self.prefix))
        self.place = 0
        self.held: tuple[list[int], list[str]] = ([], [])

    def ask(self, statement: str, given: Any = None) -> list[Any]:
        """What a statement gives."""
        self.cursor.execute(statement, given)
        return list(self.cursor.fetchall()) if self.cursor.description else []

    def fill(self, number: int) -> None:
        """Publish this number of messages."""
        for start in range(0, number, 1000):
            part = {"n": min(1000, number - start), "payload": PAYLOAD}
            self.ask(FILL.format(self.prefix), part)

    def exchange(self, most: int) -> int:
        """Acknowledge what is held and claim as many again.  -> how many came."""
        rows = self.ask("EXECUTE exchange (%s::bigint[], %s::uuid[], %s, %s)", (*self.held, most, self.place))
        rows = [row for row in rows if row[0] is not None]
        self.held = ([row[0] for row in rows], [row[1] for row in rows])
        if rows:
            self.place = min(row[2] for row in rows)
        return len(rows)

    def work(self, messages: int, most: int) -> None:
        """Claim and acknowledge them."""
        while messages > 0:
            if not (came := self.exchange(most)):
                raise RuntimeError("the queue ran empty")
            messages -= came
        self.exchange(0)

    def publish(self, messages: int) -> None:
        """One by one."""
        statement = PUBLISH.format(self.prefix)
        for _ in range(messages):
            self.ask(statement, (PAYLOAD, str(uuid4())))

    def tidy(self) -> None:
        """Remove what is dead, as autovacuum would now and then."""
        self.ask(f"VACUUM ANALYZE {self.tables}")


@contextmanager
def measured(server: Server, messages: int) -> Iterator[list[float]]:
    """Fills a list: microseconds, and bytes of the log, a message."""
    found: list[float] = []
    pid = server.connection.info.backend_pid
    [(lsn,)] = server.ask("SELECT pg_current_wal_insert_lsn()")
    used = _nanoseconds(pid)
    yield found
    found.append((_nanoseconds(pid) - used) / 1000 / messages)
    [(written,)] = server.ask("SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), %s)", (lsn,))
    found.append(float(written) / messages)


def _nanoseconds(pid: int) -> int:
    return int(Path(f"/proc/{pid}/schedstat").read_text().split()[0])


def working(messages: int, most: int) -> Callable[[Server], None]:
    """-> a function that claims and settles these messages on a server.  most: messages at a time."""
    return lambda server: server.work(messages, most)


def main(arguments: list[str]) -> None:
    """Print a line for each figure."""
    servers = {name: Server(url) for name, url in (argument.split("=", 1) for argument in arguments)}
    figures: dict[tuple[str, str], list[list[float]]] = defaultdict(list)

    def turn(what: str, messages: int, act: Callable[[Server], None], first: str = "SELECT 1") -> None:
        for name, server in servers.items():
            server.tidy()
            server.ask(first)
            with measured(server, messages) as found:
                act(server)
            figures[what, name].append(found)

    began = time.monotonic()
    for server in servers.values():
        server.fill(sum(BATCHES.values()))
        server.work(WARM, 8)  # plans are kept from the sixth call on
        server.publish(200)
    for _ in range(ROUNDS):
        for server in servers.values():
            server.fill(sum(BATCHES.values()))
        for most, messages in BATCHES.items():
            turn(f"settle and claim, {most} at a time", messages, working(messages, most))
        turn("publish one by one", PUBLISHED, lambda s: s.publish(PUBLISHED))
    for server in servers.values():
        server.fill(CROWD)
    for _ in range(3):
        what = f"the same, 16 at a time, after a checkpoint with {CROWD:,} waiting"
        turn(what, AFTER_CHECKPOINT, lambda s: s.work(AFTER_CHECKPOINT, 16), "CHECKPOINT")
    _report(figures)
    print(f"{time.monotonic() - began:.0f} s")


def _report(figures: dict[tuple[str, str], list[list[float]]]) -> None:
    for (what, name), rounds in sorted(figures.items()):
        used, written = (median(values) for values in zip(*rounds, strict=True))
        spread = f"{min(values[0] for values in rounds):.1f} to {max(values[0] for values in rounds):.1f}"
        print(f"{what}, {name}: {used:.1f} us ({spread}), {written:,.0f} B of the log a message")


if __name__ == "__main__":
    main(sys.argv[1:])
