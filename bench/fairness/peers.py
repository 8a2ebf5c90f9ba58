"""PgQueuer under the flood: on the same server, in processes of its own, with its own limits."""

import json
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from bench.accept.database import database
from bench.broker.peers import default_folder, python
from bench.fairness.loops import plain, query
from bench.fairness.service import wait_for

WORKER = Path(__file__).with_name("pgqueuer_worker.py")
#: Two jobs at once in each.
PROCESSES = 2
LEFT = "SELECT count(*) FROM pgqueuer WHERE entrypoint = ANY('{%s}')"


class Run(NamedTuple):
    """A job that ran; seconds since the epoch."""

    user: str
    began: float
    ended: float


def pgqueuer(jobs: Sequence[tuple[str, int]], limit: int, milliseconds: int, until: Sequence[str]) -> list[Run]:
    """Enqueue so many jobs of each user in this order, and work until those of `until` are done.

    Raises: PeersUnavailable.
    """
    program, users = str(python(default_folder())), list(dict.fromkeys(user for user, _ in jobs))
    with database() as (sqlalchemy_url, _):
        url = plain(sqlalchemy_url)
        orders = [f"{user}={count}" for user, count in jobs]
        subprocess.run([program, str(WORKER), url, "fill", *orders], check=True)
        argv = [program, str(WORKER), url, "work", str(limit), str(milliseconds), *users]
        nodes = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True) for _ in range(PROCESSES)]
        try:
            wait_for(lambda: query(sqlalchemy_url, LEFT % ",".join(until)) == [(0,)])
        finally:
            for node in nodes:
                node.send_signal(signal.SIGTERM)
        told = [json.loads(node.communicate(timeout=60)[0]) for node in nodes]
    return sorted((Run(*run) for runs in told for run in runs), key=lambda run: run.began)


def waits_and_rate(runs: Sequence[Run], watched: Sequence[str]) -> tuple[list[float], float]:
    """Waits of the watched users' jobs from the first start of anybody, and jobs a second until their last end."""
    began = runs[0].began
    ended = max(run.ended for run in runs if run.user in watched)
    waits = [run.began - began for run in runs if run.user in watched]
    return waits, sum(run.ended <= ended for run in runs) / (ended - began)


def most_at_once(runs: Sequence[Run]) -> Mapping[str, int]:
    """Of each user, how many of their jobs ran at the same time."""
    most: dict[str, int] = {}
    for run in runs:
        beside = [one for one in runs if one.user == run.user and one.began <= run.began < one.ended]
        most[run.user] = max(most.get(run.user, 0), len(beside))
    return most
