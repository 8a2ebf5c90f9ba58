"""One run: its servers, its folder, and how a system's programs are started on them."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from durable_bench import peers, servers
from durable_bench.nodes import Nodes
from durable_bench.systems import SYSTEMS, System

ROOT = Path(__file__).parents[1]
CLIENT_SECONDS = 300
#: Gossip, mingle and events cost nothing measurable, but not every broker has them.
CELERY_WORKER = ("-m", "celery", "-A", "durable_bench.clients.celery_app", "worker", "-l", "warning")
QUIET = ("--without-gossip", "--without-mingle", "--without-heartbeat")


class Missing(Exception):  # noqa: N818  shown in the table
    """A system has no such thing, or is not installed; says why."""


@dataclass(frozen=True)
class Options:
    """Of the command line.

    jobs: of a drain; multiplier: Celery's prefetch multiplier; backlog: messages that wait meanwhile, one step each;
    finished: jobs that ran before; idle_seconds, pin_seconds: how long nodes idle and a transaction stays open.
    """

    jobs: int
    multiplier: int
    latencies: int
    peers_venv: Path
    backlog: tuple[int, ...] = ()
    finished: int = 0
    idle_seconds: float = 0.0
    pin_seconds: float = 0.0


@dataclass
class Bench:
    """What the scenes work with."""

    options: Options
    folder: Path
    postgres: servers.Postgres
    brokers: dict[str, servers.Broker | None]
    peers: Path | None
    without: dict[str, str] = field(default_factory=dict)

    def set_up(self, names: list[str]) -> None:
        """Make the database of each system, and find out which are missing."""
        for name in names:
            try:
                self._set_up(SYSTEMS[name])
            except Missing as why:
                self.without[name] = str(why)

    def _set_up(self, system: System) -> None:
        if system.in_peers and self.peers is None:
            raise Missing("not installed: see above why the peers' venv could not be made")
        if system.store in self.brokers and self.brokers[system.store] is None:
            raise Missing(f"not installed: apt-get install {system.store}-server")
        if system.store == "postgres":
            self.postgres.run(f'CREATE DATABASE "{system.name}"')
            self.client(system, "setup")
            self.postgres.run(f'ALTER DATABASE "{system.name}" RENAME TO "{system.name}-template"')

    def fresh(self, system: System) -> None:
        """Give the system empty tables, or empty queues."""
        if system.store == "postgres":
            self.postgres.run(f'DROP DATABASE IF EXISTS "{system.name}" WITH (FORCE)')
            self.postgres.run(f'CREATE DATABASE "{system.name}" TEMPLATE "{system.name}-template"')
        elif system.store != "memory":
            self.client(system, "empty")

    def settle(self, system: System) -> None:
        """After filling: statistics as autovacuum would have them, and no checkpoint soon."""
        if system.store == "postgres":
            self.postgres.run("VACUUM ANALYZE", database=system.name)
            self.postgres.run("CHECKPOINT")

    def client(
        self, system: System, command: str, number: int = 0, *, module: str = "", seconds: float = 0.0
    ) -> float | None:
        """Run a command of its client, or of another module.  -> seconds, if it was timed.  Raises: Missing.

        seconds: what the command takes by intent, on top of what is given to any.
        """
        argv = [self._python(system), "-m", module or system.client, command, str(number)]
        done = subprocess.run(
            argv, cwd=ROOT, env=self._environment(system), capture_output=True, text=True,
            timeout=CLIENT_SECONDS + seconds, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"{system.name} {command}: {done.stderr[-2000:]}")
        answer = json.loads(done.stdout.splitlines()[-1])
        if "missing" in answer:
            raise Missing(answer["missing"])
        return None if answer["seconds"] is None else float(answer["seconds"])

    @contextmanager
    def nodes(self, system: System, concurrency: int, count: int = 1, *, messages: int = 0) -> Iterator[Nodes]:
        """Run `count` nodes.  messages: for the system that finds them in its memory."""
        folder = self.folder / "marks"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        argv = [self._python(system)]
        argv += [*CELERY_WORKER, "-c", str(concurrency), *QUIET] if system.is_celery else [
            "-m", system.client, "node", str(concurrency)
        ]  # fmt: skip
        environment = self._environment(system) | {"BENCH_FOLDER": str(folder), "BENCH_MESSAGES": str(messages)}
        nodes = Nodes(folder, argv, environment)
        try:
            for _ in range(count):
                nodes.start()
            yield nodes
        finally:
            nodes.stop()

    def server(self, system: System) -> int:
        """Tell the process its server's others descend from; 0 for none."""
        broker = self.brokers.get(system.store)
        return broker.pid if broker else self.postgres.pid if system.store == "postgres" else 0

    def _python(self, system: System) -> str:
        return str(self.peers) if system.in_peers else sys.executable

    def _environment(self, system: System) -> dict[str, str]:
        database = self.postgres.url(system.name)
        broker = self.brokers.get(system.store)
        url = broker.url if broker else database.replace("postgresql", system.scheme, 1)
        return os.environ | {
            "BENCH_URL": url,
            "BENCH_DATABASE": database,
            "BENCH_MULTIPLIER": str(self.options.multiplier),
            "BENCH_VARIANT": system.variant,
            "C_FORCE_ROOT": "1",
            "PYTHONWARNINGS": "ignore",
        }


@contextmanager
def running(options: Options, names: list[str], folder: Path) -> Iterator[Bench]:
    """Start what the named systems need."""
    stores = {SYSTEMS[name].store for name in names}
    with ExitStack() as stack:
        postgres = stack.enter_context(servers.postgres())
        brokers: dict[str, servers.Broker | None] = {}
        if "redis" in stores:
            brokers["redis"] = stack.enter_context(servers.redis(folder / "redis"))
        if "rabbitmq" in stores:
            brokers["rabbitmq"] = stack.enter_context(servers.rabbitmq(folder / "rabbitmq"))
        bench = Bench(options, folder, postgres, brokers, _peers(options, names))
        bench.set_up(names)
        yield bench


def _peers(options: Options, names: list[str]) -> Path | None:
    if not any(SYSTEMS[name].in_peers for name in names):
        return None
    try:
        return peers.python(options.peers_venv)
    except peers.PeersUnavailable as why:
        print(f"the peers are not installed: {why}", flush=True)
        return None
