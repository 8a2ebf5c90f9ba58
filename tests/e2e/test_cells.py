"""Two cells as an operator sets them up: commands, one web before both, and an account that moves."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from durable_harness.environment import bare_environment
from durable_harness.postgres import PostgresServer

from tests.nodes import ROOT
from tests.web.serving import ask, serving


@dataclass
class Operator:
    """Runs commands in a cell."""

    home: Path
    cells: dict[str, str]
    settings: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        cells = " ".join(f"{name}={url}" for name, url in self.cells.items())
        self.settings |= {"CELLS": cells, "DIRECTORY_URL": self.cells["eu1"], "SECRET_KEY": "the key of all cells"}

    def run(self, cell: str, *arguments: str, code: int = 0) -> str:
        env = bare_environment() | {"FAIRLANE_HOME": str(self.home), "PYTHONWARNINGS": "ignore"} | self.settings
        env["DATABASE_URL"] = self.cells[cell]
        argv = [sys.executable, "-m", "app.cli", *arguments]
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout + done.stderr

    def token(self, cell: str, email: str) -> dict[str, str]:
        self.run(cell, "user", "add", email)
        return {"Authorization": f"Bearer {json.loads(self.run(cell, 'token', 'add', email, '--json'))['token']}"}


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    with ExitStack() as stack:
        cells = {}
        for name in ("eu1", "eu2"):
            server = PostgresServer(max_prepared_transactions="10")
            stack.callback(server.remove)
            server.start()
            cells[name] = server.url()
        yield Operator(tmp_path, cells)


@pytest.mark.proof
def test_an_operator_divides_accounts_among_two_databases(operator: Operator, tmp_path: Path) -> None:
    for is_left in (True, False):
        plan = operator.run("eu1", "migrate", "--plan")
        assert ("the directory of cells: its tables are to be made" in plan) is is_left
        assert json.loads(operator.run("eu1", "migrate", "--plan", "--json"))["makes_directory"] is is_left
        assert ("the directory of cells was made" in operator.run("eu1", "migrate")) is is_left
    assert "directory" not in operator.run("eu2", "migrate")
    ann, bob = operator.token("eu1", "ann@example.org"), operator.token("eu2", "bob@example.org")
    assert "account for ann@example.org already" in operator.run("eu2", "user", "add", "ann@example.org", code=1)
    assert operator.run("eu1", "cell", "adopt", "eu2") == "0 accounts added, 0 removed\n"
    assert (
        operator.run("eu1", "cell", "list")
        == "eu1: 1 accounts, 0 of them leaving\neu2: 1 accounts, 0 of them leaving\n"
    )
    with serving(operator.cells["eu1"], tmp_path, **operator.settings) as port:
        assert [json.loads(ask(port, "GET", "/api/v1/me", **who)[1])["email"] for who in (ann, bob)] == [
            "ann@example.org",
            "bob@example.org",
        ]
        moved = json.loads(operator.run("eu2", "cell", "move", "ann@example.org", "--to", "eu2", "--json"))
        assert moved["rows"]["users"] == 1
        assert json.loads(ask(port, "GET", "/api/v1/me", **ann)[1])["email"] == "ann@example.org"
        assert ask(port, "GET", "/api/v1/me", Authorization="Bearer fl_nobody")[0] == 401
    what_cannot_be_meant_is_refused(operator)
    assert operator.run("eu1", "cell", "settle") == ""
    assert json.loads(operator.run("eu1", "cell", "list", "--json")) == [
        {"cell": "eu1", "accounts": 0, "moving": 0},
        {"cell": "eu2", "accounts": 2, "moving": 0},
    ]


def what_cannot_be_meant_is_refused(operator: Operator) -> None:
    """Ann's account has moved to eu2."""
    for words, arguments in (
        ("lives in eu2", ["move", "ann@example.org", "--to", "eu2"]),
        ("is no cell; expected one of eu1, eu2", ["move", "ann@example.org", "--to", "us"]),
        ("no account for carl@example.org", ["move", "carl@example.org", "--to", "eu2"]),
        ("is no cell; expected one of eu1, eu2", ["adopt", "EU1"]),
    ):
        assert words in operator.run("eu1", "cell", *arguments, code=1)


@pytest.mark.proof
def test_no_command_page_or_log_shows_a_password_of_a_cell(operator: Operator, tmp_path: Path) -> None:
    """The servers trust everybody, so any password works; one cell and the directory are away in the end."""
    secrets = {name: f"hush-of-{name}" for name in (*operator.cells, "directory")}
    cells = {name: with_password(url, secrets[name]) for name, url in operator.cells.items()}
    named = Operator(tmp_path, cells)
    named.settings["DIRECTORY_URL"] = with_password(operator.cells["eu1"], secrets["directory"])
    said = [named.run(cell, "migrate") for cell in cells]
    said.append(named.run("eu1", "migrate", "--plan", "--json"))
    boss, ann = (named.token(cell, f"{cell}@example.org") for cell in cells)
    listed = named.run("eu1", "config")
    assert "CELLS=(set, not shown)  # environment" in listed
    assert "DIRECTORY_URL=(set, not shown)  # environment" in listed
    said += [listed, named.run("eu1", "cell", "adopt", "eu2"), named.run("eu1", "cell", "list", "--json")]
    pages = ("/", "/explore", "/explore?cell=eu2", "/readyz", "/readyz?cell=eu2", "/metrics", "/metrics?cell=eu2")
    with serving(cells["eu1"], tmp_path, **named.settings) as port:
        said += [ask(port, "GET", page, **who)[1] for page in (*pages, "/api/v1/me") for who in (boss, ann)]
        moved = named.run("eu2", "cell", "move", "eu1@example.org", "--to", "eu2", "--json")
    away = {name: url.replace("127.0.0.1:", "127.0.0.2:") for name, url in cells.items()} | {"eu1": cells["eu1"]}
    broken = Operator(tmp_path, away)
    broken.settings["DIRECTORY_URL"] = named.settings["DIRECTORY_URL"].replace("127.0.0.1:", "127.0.0.2:")
    log = (tmp_path / "log").read_text()
    with serving(away["eu1"], tmp_path, **broken.settings) as port:
        said += [ask(port, "GET", page, **who)[1] for page in (*pages, "/api/v1/me") for who in (boss, ann)]
    said += [broken.run("eu1", "cell", "adopt", "eu2", code=4), broken.run("eu1", "cell", "list", code=4)]
    log += (tmp_path / "log").read_text()
    assert "directory_away" in log
    everything = "\n".join([*said, moved, log])
    assert [name for name, secret in secrets.items() if secret in everything] == []


def with_password(url: str, password: str) -> str:
    return url.replace("postgres@", f"postgres:{password}@")
