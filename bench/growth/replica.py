"""What a replica takes off the primary, for each way that reads: `python -m bench.growth.replica [--jobs N --turns T]`.

A database as of `bench.growth` on a server of its own, and a standby of it.  Each way is taken in turns without and
with the replica, each time with another job, user and repository.  Prints medians: processor time of the primary's
sessions, messages to it, the same of the replica, and the time until the answer; and which reads the replica answered.
"""

from __future__ import annotations

import argparse
import logging
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from statistics import median
from typing import Any

import structlog
from durable_harness.postgres import PostgresServer
from durable_harness.standby import PRIMARY, Standby, query
from durable_harness.waiting import wait_for
from psycopg2.extensions import cursor
from sqlalchemy import event
from sqlalchemy.engine import Engine

from app import embedded, process_metrics
from app.store.core import schema
from app.store.core.connections import make_engine
from app.store.core.replica import Replica
from bench.endings import end_in_order
from bench.growth.__main__ import CONTENTS, WARM, sizes
from bench.growth.paths import Ways
from bench.maintenance.filled import FILL, make, used

#: They write.
NOT_READS = ("accept", "start and finish")
SETTINGS = {"shared_buffers": "256MB", "max_wal_size": "4GB", "autovacuum": "off"}
HEAD = ("without: ms of the primary", "messages", "ms to the answer")
HEAD_WITH = ("with: ms of the primary", "messages", "ms of the replica", "ms to the answer")


@dataclass
class Used:
    """What the sessions of an engine have used.  messages: to the server."""

    messages: int = 0
    sessions: set[int] = field(default_factory=set)

    @classmethod
    def of(cls, engine: Engine) -> Used:
        """Count from now on."""
        used = cls()

        class Counting(cursor):
            def execute(self, statement: Any, given: Any = None) -> None:
                used.messages += 1
                super().execute(statement, given)

        def note(connection: Any, _: object) -> None:
            connection.cursor_factory = Counting
            used.sessions.add(connection.info.backend_pid)

        event.listen(engine, "connect", note)
        return used

    def milliseconds(self) -> float:
        """The processor time of its sessions, as Linux counts it."""
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in self.sessions) / 1e6


def main() -> None:
    """Fill a database, copy it, and take each way."""
    parser = argparse.ArgumentParser(prog="python -m bench.growth.replica", description=__doc__)
    parser.add_argument("--jobs", type=int, default=50_000)
    parser.add_argument("--turns", type=int, default=40)
    given = parser.parse_args()
    end_in_order()
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    os.environ["READ_LIMIT_PER_MINUTE"] = os.environ["RATE_LIMIT_PER_MINUTE"] = "1000000000"
    with servers(given.jobs) as (primary, standby):
        found = taken(primary, standby, given.turns)
    print(f"| {' | '.join(('', *HEAD, *HEAD_WITH))} |")
    print("|---" * (1 + len(HEAD) + len(HEAD_WITH)) + "|")
    for name, figures in found.items():
        print(f"| {name} | {' | '.join(f'{figure:.1f}' for figure in figures)} |")
    [family] = process_metrics.replica_reads.collect()
    print({one.labels["reason"]: one.value for one in family.samples if one.name.endswith("_total")})


@contextmanager
def servers(jobs: int) -> Iterator[tuple[embedded.Server, PostgresServer]]:
    """A primary with a filled database, and a standby of it."""
    made = [primary := PostgresServer(**PRIMARY, **SETTINGS)]
    try:
        primary.start()
        url = primary.url().replace("postgresql:", "postgresql+psycopg2:", 1)
        server = embedded.Server(url, url, url, primary.data, "", started=True)
        make(server, "grown", sizes(jobs), FILL, CONTENTS)
        made.append(standby := Standby(primary, "b", **SETTINGS))
        standby.follow()
        yield server, standby
    finally:
        for one in made:
            one.remove()


def taken(primary: embedded.Server, standby: PostgresServer, turns: int) -> dict[str, list[float]]:
    """Way -> medians, of HEAD and HEAD_WITH."""
    url = standby.url("grown").replace("postgresql:", "postgresql+psycopg2:", 1)
    with used(primary, "grown") as uow:
        engine = make_engine(url, is_replica=True)
        here, there = Used.of(uow.engine), Used.of(engine)
        pair = (uow, replace(uow, replica=Replica(engine, schema.needed())))
        ways = [Ways(one, turns) for one in pair]
        [(written,)] = query(standby, "SELECT pg_last_wal_replay_lsn()")
        found: dict[str, list[float]] = {}
        for name in ways[0].all():
            if name in NOT_READS:
                continue
            figures: list[list[list[float]]] = [[], []]
            for turn in range(turns + WARM):
                for place, one in enumerate(ways):
                    figures[place].append(one_turn(one, name, turn, here, there))
            without, with_replica = ([median(column) for column in zip(*rows[WARM:], strict=True)] for rows in figures)
            found[name] = [without[0], without[1], without[3], *with_replica]
        wait_for(lambda: query(standby, "SELECT pg_last_wal_replay_lsn() > %s", written) == [(True,)], "the replica")
        engine.dispose()
    return found


def one_turn(ways: Ways, name: str, turn: int, here: Used, there: Used) -> list[float]:
    """Processor time of the primary, messages to it, processor time of the replica, milliseconds to the answer."""
    way = ways.all()[name]
    before, messages, others = here.milliseconds(), here.messages, there.milliseconds()
    began = time.perf_counter()
    way(turn)
    took = 1000 * (time.perf_counter() - began)
    return [here.milliseconds() - before, here.messages - messages, there.milliseconds() - others, took]


if __name__ == "__main__":
    main()
