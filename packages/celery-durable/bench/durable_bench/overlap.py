"""800 jobs a second beside transactions that overlap: `python -m durable_bench.overlap URL [--seconds 900]`.

Three transactions with a snapshot, each open for 120 s, begin 40 s apart, so that nothing dead can ever be removed: a
scene of PlanetScale's.  The database has the broker's tables, empty.  Four sessions settle and claim eight messages at
a time, as nodes do; one publishes.
"""

import argparse
import threading
import time
from contextlib import closing
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

import psycopg2
from celery import Celery
from celery_durable.options import Options
from celery_durable.queue_position import QueuePosition
from celery_durable.reader import MARGIN
from celery_durable.statements import statements
from celery_durable.template import send_many
from psycopg2.errors import LockNotAvailable

QUEUE = "celery"
RATE, BATCH = 800, 40
CLAIMERS, CLAIM, LEASE_SECONDS = 4, 8, 60.0
HOLDERS, HOLD_SECONDS = 3, 120.0
#: Between two claims of a session that found nothing; a node is notified instead.
PAUSE_SECONDS = 0.01
POLL = {"queues": [QUEUE], "owner": None, "settled": True, "prefetch": CLAIM}
POLL_SECONDS = 5.0
SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT pg_current_xact_id(), count(*) FROM durable_queue"
BACKLOG = "SELECT count(*) FROM durable_ready"
DEAD = "SELECT coalesce(sum(n_dead_tup), 0) FROM pg_stat_user_tables WHERE relname LIKE 'durable%'"


@dataclass
class Part:
    """What happened in a part of the run.

    claims: seconds of each; backlogs: messages ready, once a second; lost: claims that had to be made again, since for
    a moment vacuum had a table for itself, to give the empty pages at its end back.
    """

    lost: int = 0
    claims: list[float] = field(default_factory=list)
    backlogs: list[int] = field(default_factory=list)

    def p99(self) -> float:
        """-> ms of a claim."""
        return 1000 * sorted(self.claims)[int(len(self.claims) * 0.99)]


class Scene:
    """The sessions of one run."""

    def __init__(self, url: str) -> None:
        self._url = url
        self._ended = threading.Event()
        self.part = Part()

    def run(self, quiet_seconds: float, seconds: float) -> None:
        """Print what the claims took, and how many waited, without and beside the transactions."""
        threads = [threading.Thread(target=work) for work in (self._publish, *[self._claim] * CLAIMERS)]
        for thread in threads:
            thread.start()
        try:
            quiet = self._watch(quiet_seconds, "quiet")
            holders = [
                threading.Thread(target=self._hold, args=(number * HOLD_SECONDS / HOLDERS,))
                for number in range(HOLDERS)
            ]
            for holder in holders:
                holder.start()
            threads += holders
            beside = self._watch(seconds, "beside three transactions")
        finally:
            self._ended.set()
            for thread in threads:
                thread.join()
        print(f"claim p99, beside / quiet: {beside.p99() / quiet.p99():.2f}")

    def _watch(self, seconds: float, label: str) -> Part:
        self.part = part = Part()
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            began = time.monotonic()
            while (left := began + seconds - time.monotonic()) > 0 and not self._ended.wait(min(1.0, left)):
                cursor.execute(BACKLOG)
                part.backlogs.append(cursor.fetchone()[0])
            cursor.execute(DEAD)
            [(dead,)] = cursor.fetchall()
        print(
            f"{label}, {seconds:.0f} s: {len(part.claims)} claims, p99 {part.p99():.2f} ms, {part.lost} made again;"
            f" backlog at most {max(part.backlogs)}, at the end {part.backlogs[-1]}; {dead:,} dead rows at the end",
            flush=True,
        )
        return part

    def _publish(self) -> None:
        app = Celery("overlap", broker="memory://")
        began, sent = time.monotonic(), 0
        with closing(psycopg2.connect(self._url)) as connection:
            while not self._ended.wait(max(0.0, began + sent / RATE - time.monotonic())):
                with connection:
                    send_many(connection, app, "nothing", [((), {})] * BATCH)
                sent += BATCH

    def _claim(self) -> None:
        sql, position = statements(Options(listen=False)), QueuePosition()
        done: list[Any] = []
        began, poll_at, careful = 0.0, 0.0, False
        with closing(self._connect()) as connection, connection.cursor() as cursor:
            while not self._ended.is_set():
                began, begin = began if careful else time.monotonic(), position.begin()
                ids, tokens = [row[1] for row in done], [row[2] for row in done]
                ended = {"done": ids, "done_tokens": tokens, "others": [], "tokens": [], "hows": [], "careful": careful}
                wanted = {"queue": QUEUE, "count": CLAIM, "owner": None, "lease": LEASE_SECONDS, "sleep": 0}
                raised = position.to_write()
                statement = sql.settle_and_claim if raised is None else f"{sql.raise_floor};{sql.settle_and_claim}"
                try:
                    cursor.execute(statement, {**ended, **wanted, "floor": begin, "raised": raised})
                except LockNotAvailable:  # a node tries again, and carefully (celery_durable/ledger.py)
                    self.part.lost, careful = self.part.lost + 1, True
                    continue
                careful = False
                done = [row for row in cursor.fetchall() if row[1] is not None]
                position.read(begin, [row[-1] for row in done], CLAIM, began)
                if done:
                    self.part.claims.append(time.monotonic() - began)
                else:
                    self._ended.wait(PAUSE_SECONDS)
                if time.monotonic() >= poll_at:
                    cursor.execute(sql.poll, {**POLL, "since": datetime.now(UTC) - MARGIN})
                    poll_at = time.monotonic() + POLL_SECONDS

    def _hold(self, delay: float) -> None:
        self._ended.wait(delay)
        while not self._ended.is_set():
            with closing(self._connect()) as connection, connection.cursor() as cursor:
                cursor.execute(SNAPSHOT)
                self._ended.wait(HOLD_SECONDS)

    def _connect(self) -> Any:
        connection = psycopg2.connect(self._url)
        connection.autocommit = True
        return connection


def main() -> None:
    """Run the scene."""
    parser = argparse.ArgumentParser(prog="python -m durable_bench.overlap", description=__doc__)
    parser.add_argument("url")
    parser.add_argument("--quiet-seconds", type=float, default=60.0)
    parser.add_argument("--seconds", type=float, default=900.0)
    given = parser.parse_args()
    Scene(given.url).run(given.quiet_seconds, given.seconds)


if __name__ == "__main__":
    main()
