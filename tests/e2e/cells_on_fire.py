"""Several cells, each with a PostgreSQL, nodes and a judge of every commit; users who submit, and accounts that move."""

from __future__ import annotations

import random
import subprocess
import sys
import threading
import time
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from uuid import UUID, uuid4

from apiflask import APIFlask
from durable_harness.environment import bare_environment
from durable_harness.postgres import PostgresServer
from sqlalchemy import create_engine, pool, text
from werkzeug.test import Client

from app.domain.plans import Tier
from app.migrate import migrate
from app.services.accounts.tokens import add_token
from app.store.cells import directory
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.web.cells.applications import joined
from app.web.cells.router import CellRouter
from tests.conftest import World, publishing
from tests.e2e import fire_checks
from tests.e2e.fire import Fire
from tests.nodes import ROOT, Nodes
from tests.web.apps import APPS
from tests.web.conftest import wired_for_tests

#: Of the naps that stand for analyses; some are long, so that a move meets them.
MILLISECONDS = (5, 10, 20, 50, 100, 500)
#: So many jobs wait in a cell at most; then the users rest.
BACKLOG = 300
WAITING = "SELECT count(*) FROM kombu_message"
#: An answer after which the client asks again with its key.
AGAIN = frozenset({409, 429, 503})


@dataclass
class Cell:
    """A whole service but for its web.  url: of its database."""

    name: str
    url: str
    world: World
    fire: Fire

    @property
    def waiting(self) -> int:
        return int(str(self.world.value(WAITING)))


@dataclass(frozen=True)
class Wanted:
    """A submission that was not accepted yet.  begun: its first attempt, in seconds of time.monotonic."""

    key: str
    repository: str
    commit: str
    begun: float


@dataclass(eq=False)
class Owner:
    """A user, and what was answered to them.  seconds: when each accept was answered, and how long it took."""

    user_id: UUID
    email: str
    token: str
    wanted: Wanted | None = None
    jobs: list[str] = field(default_factory=list)
    seconds: list[tuple[float, float]] = field(default_factory=list)


@dataclass
class Cells:
    """All of them, with the application of each, and the router before them.  addresses: as the settings name them."""

    cells: dict[str, Cell]
    directory: UnitOfWork
    addresses: dict[str, str]
    apps: dict[str, APIFlask]
    router: CellRouter

    @classmethod
    @contextmanager
    def of(cls, count: int, folder: Path, make_fire: Callable[[Nodes], Fire]) -> Iterator[Cells]:
        """Start so many, each on a server of its own; the directory is in the first one's."""
        with ExitStack() as stack:
            servers = {f"c{number}": PostgresServer(max_prepared_transactions="20") for number in range(count)}
            for server in servers.values():
                stack.callback(server.remove)
                server.start()
            urls = {
                name: server.url().replace("postgresql:", "postgresql+psycopg2:") for name, server in servers.items()
            }
            known = UnitOfWork(make_engine(urls["c0"]))
            stack.callback(known.engine.dispose)
            with known.begin() as tx:
                directory.create(tx)
            cells = {name: stack.enter_context(_cell(name, url, folder, make_fire)) for name, url in urls.items()}
            apps = {
                name: stack.enter_context(APPS.lent(wired_for_tests(cell.world.uow, rate_limit_per_minute=1_000_000)))
                for name, cell in cells.items()
            }
            yield cls(cells, known, urls, apps, joined(apps, "c0", known))

    def owners(self, count: int) -> list[Owner]:
        """Users with a token, in all cells; noted in the directory, as `fairlane cell adopt` does."""
        made, now = list[Owner](), self.cells["c0"].world.uow.now()
        for number in range(count):
            cell = list(self.cells.values())[number % len(self.cells)]
            user_id = cell.world.user(list(Tier)[number // len(self.cells) % len(Tier)])
            owner = Owner(user_id, f"{user_id}@example.org", add_token(cell.world.uow, user_id, now=now).secret)
            with self.directory.begin() as tx:
                directory.add(tx, user_id, cell.name, owner.email)
            made.append(owner)
        return made

    def fairlane(self, *arguments: str, folder: Path, nice: str = "0") -> subprocess.Popen[str]:
        """A command, in a process of its own.  nice: how much later than others it gets a processor."""
        cells = " ".join(f"{name}={url}" for name, url in self.addresses.items())
        env = bare_environment() | {
            "DATABASE_URL": self.addresses["c0"],
            "CELLS": cells,
            "DIRECTORY_URL": self.addresses["c0"],
        }
        env |= {"FAIRLANE_HOME": str(folder / "home"), "PYTHONWARNINGS": "ignore"}
        argv = ["nice", "-n", nice, sys.executable, "-m", "app.cli", *arguments]
        pipe = subprocess.PIPE
        return subprocess.Popen(argv, cwd=ROOT, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)

    def homes(self) -> dict[UUID, list[str]]:
        """Person -> the cells that have an account for them."""
        found = defaultdict[UUID, list[str]](list)
        for name, cell in self.cells.items():
            for row in cell.world.rows("SELECT id FROM users WHERE kind = 'person'"):
                found[UUID(str(row["id"]))].append(name)
        return dict(found)

    def noted(self) -> dict[UUID, list[str]]:
        """Person -> the cell, and where a move goes, by the directory."""
        with self.directory.begin() as tx:
            rows = tx.run(text("SELECT user_id, cell, moving_to FROM directory.accounts"))
            return {row.user_id: [name for name in (row.cell, row.moving_to) if name] for row in rows}

    def union(self, query: str) -> list[dict[str, object]]:
        """What all cells answer together."""
        return [row for cell in self.cells.values() for row in cell.world.rows(query)]


@contextmanager
def _cell(name: str, url: str, folder: Path, make_fire: Callable[[Nodes], Fire]) -> Iterator[Cell]:
    migrate(create_engine(url, poolclass=pool.NullPool))
    world = World(UnitOfWork(make_engine(url, pool_size=20), publishing()))
    with world.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = NULL, spec_units_per_period = NULL"))
    fire_checks.install(world)
    own = folder / name
    own.mkdir()
    with ExitStack() as stack:
        stack.callback(world.uow.engine.dispose)
        fire = make_fire(stack.enter_context(Nodes.open(url, own)))
        stack.callback(fire.bury)
        yield Cell(name, url, world, fire)


@dataclass
class Clients:
    """Users who submit through the router in so many threads, each of them one job after the other, until it is accepted."""

    cells: Cells
    owners: list[Owner]
    answers: Counter[int] = field(default_factory=Counter)
    errors: list[BaseException] = field(default_factory=list)
    _over: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def begin(self, threads: int, seed: int) -> None:
        for number in range(threads):
            # a user's submissions come one after the other
            mine, dice = self.owners[number::threads], random.Random(seed + number)
            thread = threading.Thread(target=self._live, args=(mine, dice), daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join(120)
        assert [thread for thread in self._threads if thread.is_alive()] == []
        assert self.errors == []

    def _live(self, owners: list[Owner], dice: random.Random) -> None:
        client = Client(self.cells.router)
        try:
            while not self._over.is_set():
                if all(cell.waiting > BACKLOG for cell in self.cells.cells.values()):
                    self._over.wait(0.5)
                    continue
                for owner in dice.choices(owners, k=20):
                    self._submit(client, owner, dice)
            while left := [owner for owner in owners if owner.wanted]:
                for owner in left:
                    self._submit(client, owner, dice)
        except BaseException as error:  # noqa: BLE001 - told by `stop`
            self.errors.append(error)

    def _submit(self, client: Client, owner: Owner, dice: random.Random) -> None:
        """One attempt at what they want: an account that waits keeps nobody else waiting."""
        wanted = owner.wanted = owner.wanted or Wanted(
            uuid4().hex, f"https://github.com/fire/ms{dice.choice(MILLISECONDS)}", uuid4().hex + uuid4().hex[:8],
            time.monotonic(),
        )  # fmt: skip
        answer = client.post(
            "/api/v1/analyses",
            json={"repository": wanted.repository, "commit": wanted.commit},
            headers={"Authorization": f"Bearer {owner.token}", "Idempotency-Key": wanted.key},
            environ_base={"REMOTE_ADDR": "127.0.0.1"},
        )
        self.answers[answer.status_code] += 1
        if answer.status_code == 202:
            ended = time.monotonic()
            owner.jobs.append(answer.json["id"])
            owner.seconds.append((ended, ended - wanted.begun))
            owner.wanted = None
            return
        assert answer.status_code in AGAIN, (answer.status_code, answer.text)
        time.sleep(0.02)  # as Retry-After asks for, only sooner
