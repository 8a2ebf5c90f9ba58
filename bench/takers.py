"""Processes that take the ways of a benchmark as one tree does: this one, or that of an earlier revision.

They take turns, in an order that turns as well, each on its database.  Of each turn three FIGURES are told:
milliseconds until the answer, processor time of PostgreSQL's sessions, and the process's own.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Self

from sqlalchemy.engine import make_url

from app import embedded
from app.migrate import migrate
from app.store.core.connections import make_engine
from bench.maintenance.filled import run

FIGURES = ("answer", "PostgreSQL", "process")
#: Turns that are not counted.
WARM = 5
#: Before it stands the code of a benchmark: `prepare(server, given)` and `ways(uow, given)`, which are name -> way, by
#: the number of its turn, in milliseconds.  Names and numbers come in; all names, then three figures each, go out.
_LOOP = """
import json, logging, sys, time
from pathlib import Path
from types import SimpleNamespace
import structlog
from sqlalchemy import event
from bench.maintenance.filled import used
given = json.loads(sys.argv[1])
structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
server = SimpleNamespace(**given["server"])
prepare(server, given)
with used(server, given["database"]) as uow:
    sessions = set()
    event.listen(uow.engine, "connect", lambda connection, _: sessions.add(connection.info.backend_pid))
    found = ways(uow, given)
    def busy():
        return sum(int(Path(f"/proc/{pid}/schedstat").read_text().split()[0]) for pid in sessions) / 1e6
    print(json.dumps(list(found)), flush=True)
    for line in sys.stdin:
        name, turn = json.loads(line)
        known, own = busy(), time.process_time()
        took = found[name](turn)
        print(json.dumps([took, busy() - known, 1000 * (time.process_time() - own)]), flush=True)
"""


@dataclass
class Taker:
    """A process.  code: of the benchmark; given: to that code, as JSON."""

    tree: Path
    server: embedded.Server
    database: str
    code: str
    given: Mapping[str, object] = field(default_factory=dict)

    def __enter__(self) -> Self:
        """Start it, and learn the names of its ways."""
        urls = {name: getattr(self.server, name) for name in ("url", "owner_url", "admin_url")}
        given = {"server": urls, "database": self.database, **self.given}
        paths = [self.tree, self.tree / "tests/harness", *self.tree.glob("packages/*/src")]
        unlimited = dict.fromkeys(("READ_LIMIT_PER_MINUTE", "RATE_LIMIT_PER_MINUTE"), "1000000000")
        self._process = subprocess.Popen(
            [sys.executable, "-c", self.code + _LOOP, json.dumps(given)], cwd=self.tree, text=True,
            env={**os.environ, **unlimited, "PYTHONPATH": os.pathsep.join(map(str, paths))},
            stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.names = [str(name) for name in self._answer()]
        return self

    def __exit__(self, *_: object) -> None:
        """End it."""
        self._process.communicate()

    def take(self, name: str, turn: int) -> list[float]:
        """Take a way; -> its FIGURES."""
        if self._process.stdin is None:
            raise ValueError("started without pipes")
        print(json.dumps([name, turn]), file=self._process.stdin, flush=True)
        return [float(str(figure)) for figure in self._answer()]

    def _answer(self) -> list[object]:
        if self._process.stdout is None:
            raise ValueError("started without pipes")
        while line := self._process.stdout.readline():
            if line.startswith("["):
                return list(json.loads(line))
            print(line, end="", flush=True)
        raise RuntimeError(f"the process of {self.tree} has ended")


def compared(takers: Sequence[Taker], turns: int, *, together: bool = False) -> dict[str, list[list[float]]]:
    """Way -> the medians of FIGURES of each taker.  together: all ways in each turn, as some need what others made."""
    taken: dict[str, list[list[list[float]]]] = {name: [[] for _ in takers] for name in takers[0].names}
    numbers = range(turns + WARM)
    order = [(name, turn) for turn in numbers for name in taken] if together else [
        (name, turn) for name in taken for turn in numbers
    ]  # fmt: skip
    for name, turn in order:
        for place in range(len(takers)):
            which = (place + turn) % len(takers)
            taken[name][which].append(takers[which].take(name, turn))
    return {
        name: [[median(column) for column in zip(*rows[WARM:], strict=True)] for rows in each]
        for name, each in taken.items()
    }


def tell(title: str, names: Sequence[str], found: Mapping[str, list[list[float]]]) -> None:
    """Print a table for each of FIGURES; the others have their share of the first as well."""
    for number, figure in enumerate(FIGURES):
        print(f"| {title}: {figure}, ms | {' | '.join(names)} |\n|---" + "|---" * len(names) + "|")
        for way, rows in found.items():
            first = rows[0][number]
            cells = [f"{row[number]:.2f}, {row[number] / first if first else 1:.2f}" for row in rows[1:]]
            print(f"| {way} | {first:.2f} | {' | '.join(cells)} |", flush=True)


def copied(server: embedded.Server, name: str, copy: str) -> bool:
    """Copy a database and migrate the copy to this tree's schema, unless it is there.  Returns: whether it was not."""
    if run(server.admin_url, f"SELECT 1 FROM pg_database WHERE datname = '{copy}'"):
        return False
    clone(server, name, copy)
    migrated(server, copy)
    for each in (name, copy):
        run(server.admin_url, "VACUUM ANALYZE", database=each)
    return True


def clone(server: embedded.Server, name: str, copy: str) -> None:
    """Copy a database, to which nobody may be connected."""
    owner = make_url(server.owner_url).username
    run(server.admin_url, f"CREATE DATABASE {copy} OWNER {owner} TEMPLATE {name} STRATEGY file_copy")


def migrated(server: embedded.Server, name: str) -> None:
    """Migrate a database to this tree's schema."""
    engine = make_engine(make_url(server.owner_url).set(database=name).render_as_string(hide_password=False))
    migrate(engine, role=make_url(server.url).username)
    engine.dispose()
