"""Every command of `fairlane` works once, on a real database; the list comes from the command line itself."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from app import signs_of_life
from app.cli import main
from app.services.operations.schedule import register
from app.services.operations.send_schedule import ScheduledEntry
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.contract.test_docs import commands
from tests.e2e.test_up import SMALL, Up, started
from tests.nodes import Nodes
from tests.tiers import proofs
from tests.web.serving import serving

ANN = "ann@example.org"
RECORDED = {
    "at": "2026-11-01T10:00:00+00:00", "user": "ann", "tier": "free", "queue": "analysis_default", "seconds": 1.5,
}  # fmt: skip


@dataclass
class Place:
    """Where commands run: a migrated database with an account, a home, and a repository `shop`."""

    nodes: Nodes
    shop: Path
    free_port: int
    env: dict[str, str | None]

    def run(self, *arguments: str, typed: str | None = None) -> str:
        """The output of a command, which has to end with 0."""
        done = CliRunner().invoke(main, arguments, input=typed, env=self.env)
        assert done.exit_code == 0, (arguments, done.output, done.exception)
        return done.stdout

    @property
    def home(self) -> Path:
        return Path(str(self.env["FAIRLANE_HOME"]))

    def object(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments))


@pytest.fixture
def place(nodes: Nodes, free_port: int, repository: Callable[..., Path]) -> Place:
    made = Place(nodes, repository("shop"), free_port, dict(nodes.environment()))
    made.run("user", "add", ANN)
    return made


def plain(*arguments: str, typed: str | None = None) -> Callable[[Place], object]:
    return lambda place: place.run(*arguments, typed=typed)


def openapi(place: Place) -> object:
    place.env |= {"DATABASE_URL": None, "FAIRLANE_HOME": str(place.nodes.folder / "empty")}
    document = place.object("openapi")
    assert not (place.home / "postgres").exists(), "the document needs no database"
    return document["paths"]["/api/v1/analyses"]


def keys(*arguments: str) -> Callable[[Place], object]:
    """As plain, in a home whose service has started before."""

    def run(place: Place) -> object:
        place.env |= {"SECRET_KEY": "a secret of this test"}
        return place.run("keys", *arguments)

    return run


def schedule(*arguments: str) -> Callable[[Place], object]:
    """Run a command whose output is not empty, once a beat has led."""

    def run(place: Place) -> object:
        sweep = ScheduledEntry("sweep", "tasks.maintenance.sweep", timedelta(minutes=5), "maintenance")
        uow = UnitOfWork(make_engine(place.nodes.database_url))
        register(uow, [sweep], leader="a beat", now=uow.now())
        uow.engine.dispose()
        return place.run("schedule", *arguments)

    return run


def inventory(place: Place) -> object:
    return place.run("inventory", str(place.shop))


def simulate(place: Place) -> object:
    log = place.nodes.folder / "log"
    log.write_text(json.dumps(RECORDED))
    return place.run("simulate", "--from", str(log))


def alive(place: Place) -> object:
    signs_of_life.give(place.home, f"beat@{socket.gethostname()}")
    return place.run("alive", "beat")


def drain(command: str) -> Callable[[Place], object]:
    """Tell a node of this host to drain, or not to."""

    def run(place: Place) -> object:
        name = f"{socket.gethostname()}:{place.nodes.worker().container.pid}"
        return place.run(command, name)

    return run


def revoke(place: Place) -> object:
    return place.run("token", "revoke", place.object("token", "add", ANN, "--json")["prefix"])


def of_cells(do: Callable[[Place], object]) -> Callable[[Place], object]:
    """Run a command in a service that has one cell so far."""

    def run(place: Place) -> object:
        url = place.nodes.database_url
        place.env |= {"CELLS": f"eu1={url}", "DIRECTORY_URL": url}
        place.run("migrate")
        return do(place)

    return run


def move(place: Place) -> object:
    """There is no other cell; tests/e2e/test_cells.py has two."""
    done = CliRunner().invoke(main, ["cell", "move", ANN, "--to", "eu1"], env=place.env)
    assert done.exit_code == 1
    return "lives in eu1" in done.output


def submit(place: Place) -> object:
    token = place.object("token", "add", ANN, "--json")["token"]
    place.home.mkdir(exist_ok=True)
    with serving(place.nodes.database_url, place.home, LOCAL_REPOS_ROOT=str(place.shop.parent)) as port:
        place.env |= {"FAIRLANE_URL": f"http://127.0.0.1:{port}", "FAIRLANE_TOKEN": token}
        return place.object("submit", "local:shop", "--json")["status"] == "queued"


def up(place: Place) -> object:
    argv = [sys.executable, "-m", "app.cli", "up", "--no-open", "--workers", "tier", "--port", str(place.free_port)]
    running = started(argv, place.nodes.folder / "up.log", place.nodes.environment(**SMALL), place.free_port)
    return ended(running)


def restore(place: Place) -> object:
    file = str(place.nodes.folder / "a.dump")
    place.run("backup", file)
    return place.run("restore", "--yes", file)


def ended(running: Up) -> object:
    try:
        running.wait_until_ready()
    finally:
        running.end()
    assert running.process.returncode == 0
    return running.said()


#: How each command is run; what it returns is not empty.
RUNS: dict[str, Callable[[Place], object]] = {
    "alive": alive,
    "audit": plain("audit", "--json"),
    "bills export": lambda place: place.run("bills", "export", "--month", "2026-01", str(place.nodes.folder / "b.csv")),
    "backup": lambda place: place.run("backup", str(place.nodes.folder / "b.dump")),
    "cell adopt": of_cells(plain("cell", "adopt", "eu1")),
    "cell list": of_cells(plain("cell", "list")),
    "cell move": of_cells(move),
    "cell settle": of_cells(lambda place: place.run("cell", "settle") == ""),
    "config": plain("config"),
    "dead": plain("dead"),
    "doctor": plain("doctor", "--fix"),
    "drain": drain("drain"),
    "fairness": plain("fairness"),
    "inventory": inventory,
    "keys list": keys("list"),
    "keys reencrypt": keys("reencrypt", "--json"),
    "migrate": plain("migrate"),
    "nodes": plain("nodes"),
    "openapi": openapi,
    "pause": plain("pause", "analysis_default"),
    "prune": plain("prune", "--dry-run"),
    "queues": plain("queues"),
    "read-only": plain("read-only", "on", "--reason", "a test"),
    "restore": restore,
    "resume": plain("resume", "analysis_default"),
    "schedule change": schedule("change", "sweep", "--disable"),
    "schedule list": plain("schedule", "list"),
    "schedule run": schedule("run", "sweep"),
    "simulate": simulate,
    "submit": submit,
    "sweep": plain("sweep"),
    "tier limit": plain("tier", "limit", "free", "2"),
    "tier quota": plain("tier", "quota", "free", "--analyses", "60"),
    "tier list": plain("tier", "list"),
    "token add": plain("token", "add", ANN),
    "token list": plain("token", "list", ANN, "--json"),
    "token revoke": revoke,
    "undrain": drain("undrain"),
    "up": up,
    "url": plain("url"),
    "user add": plain("user", "add", "bob@example.org"),
    "user delete": plain("user", "delete", ANN, "--yes"),
    "user limit": plain("user", "limit", ANN, "3"),
    "user link": plain("user", "link", ANN),
    "user list": plain("user", "list"),
    "user password": plain("user", "password", ANN, typed="a long enough pass phrase\n"),
    "user tier": plain("user", "tier", ANN, "pro"),
}  # fmt: skip


#: Looked at before each commit: a command of each kind that starts no process of its own.
FEW = ("tier list", "token list", "url", "user add", "user list")


def test_every_command_is_run() -> None:
    assert RUNS.keys() == set(commands(main))


@pytest.mark.parametrize("command", proofs(sorted(commands(main)), but=FEW))
def test_a_command_works(place: Place, command: str) -> None:
    assert RUNS[command](place)
