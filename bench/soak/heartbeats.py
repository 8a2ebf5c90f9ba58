"""Let the heartbeat of each worker meet the transaction of its job, before anything is judged.

A worker opens its second session at the database when the two first coincide, and keeps it.  At the soak's rate jobs
are so short that this comes by chance, for the last worker after ten minutes or after an hour.
"""

from __future__ import annotations

import random
import time
from collections import Counter
from collections.abc import Callable, Sequence

import psutil

from app.domain.plans import PAID, Tier
from bench.soak.ageing import Ageing
from bench.soak.client import Client
from bench.soak.commits import Commits
from bench.soak.database import Database

#: Into which each job writes; while it is locked, all jobs of the kind wait within a transaction.
TABLES = {"submit": "analysis_file_lists", "specify": "spec_features"}
#: Less than a transaction waits for a lock.
HELD_SECONDS = 8.0
ATTEMPTS = 5
_WAITING = """
    SELECT a.client_port FROM pg_locks l JOIN pg_stat_activity a USING (pid)
     WHERE l.relation = CAST(%(table)s AS regclass) AND NOT l.granted AND a.application_name = 'fairlane worker'"""
_ALL = "SELECT client_port FROM pg_stat_activity WHERE application_name = 'fairlane worker'"


def meet(
    url: str, people: Sequence[tuple[str, Tier]], commits: Commits, ageing: Ageing, look: Database,
    workers: dict[str, int], seed: int,
) -> None:  # fmt: skip
    """Hold all jobs of a kind back until so many workers of that kind have two sessions.

    people: tokens, of every tier; workers: by the way in which the kind is asked for, those of the queues for paid and
    for other tiers.  Locks: a table of the kind, for eight seconds at most.  Raises: SystemExit if they do not meet.
    """
    paid, others = ([token for token, tier in people if (tier in PAID) is is_paid] for is_paid in (True, False))
    clients = [Client(url, random.Random(seed), tokens, commits, ageing, ageing.accept) for tokens in (paid, others)]
    for way, table in TABLES.items():
        for _ in range(ATTEMPTS):
            if _held_back(look, table, [client.ways[way] for client in clients], workers[way]):
                break
            _finish(ageing)
        else:
            raise SystemExit(f"the heartbeats of {way} did not meet their jobs")
        _finish(ageing)
    for client in clients:
        client.close()


def _held_back(look: Database, table: str, ways: list[Callable[[], int | None]], workers: int) -> bool:
    with look.locked(table):
        until, asked = time.monotonic() + HELD_SECONDS, 0
        while (met := _met(look, table)) < workers and time.monotonic() < until:
            if asked < 4 * workers:  # so many users that each worker gets a job
                asked += 1
                ways[asked % len(ways)]()
            else:
                time.sleep(0.05)  # a pause between two polls of those who wait
    return met >= workers


def _met(look: Database, table: str) -> int:
    """Workers whose job waits for the lock and that have another session."""
    owners = {one.laddr.port: one.pid for one in psutil.net_connections("tcp") if one.laddr and one.pid}
    sessions = Counter(owners.get(port) for (port,) in look.ask(_ALL))
    waiting = {owners.get(port) for (port,) in look.ask(_WAITING, {"table": table})}
    return sum(1 for pid in waiting if pid is not None and sessions[pid] > 1)


def _finish(ageing: Ageing) -> None:
    until = time.monotonic() + 60
    while ageing.pending:
        if time.monotonic() > until:
            raise SystemExit(f"jobs did not end: {len(ageing.pending)}")
        ageing.note_ends()
        time.sleep(0.05)  # a pause between two polls of the work that ends
