"""The stage on which use cases are stepped, on a database of the test's own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial

import psycopg2
import pytest
from durable_harness.emptied import Emptied
from sqlalchemy import Engine, text
from sqlalchemy.engine import make_url

from app.errors import Problem
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, in_order
from tests.databases import Databases
from tests.race.footprints import Catalogue
from tests.race.gates import Gates
from tests.race.invariants import broken
from tests.race.scenes import Make
from tests.race.search import Search
from tests.race.stepping import Choose, Stage, Strand, stepped_engine

#: Functions that do more than one statement of the service's rules; the broker's are single steps.
STEPPED = {"accept_look"}


@dataclass(frozen=True)
class Theatre:
    """Runs a scene in every order of its statements, each from a fresh beginning."""

    world: World
    stage: Stage
    catalogue: Catalogue
    worlds: Sequence[World]
    rows: Emptied

    def every_order(self, make_scene: Make, *, switches: int | None) -> Search:
        """Raises what the first bad order breaks, with its statements.  switches: as in Search."""
        search = Search(self.catalogue, switches)

        def play(choose: Choose) -> None:
            self.rows.take_out()  # a clean-up goes through all that earlier orders left
            self.world.submit(self.world.user())  # so `World.wanted` is known; a scene that wants a new one says so
            scene = make_scene(self.world)
            actions = [partial(action, world) for action, world in zip(scene.actions, self.worlds, strict=False)]
            outcomes = self.stage.play(actions, self._judged(choose))
            for outcome in outcomes:
                if isinstance(outcome, Exception) and not isinstance(outcome, Problem):
                    raise outcome
            scene.check(*outcomes)
            assert broken(self.world) == []

        search.run(play)
        return search

    def _judged(self, choose: Choose) -> Choose:
        """The same choices, with a look at the invariants after each commit."""
        committed = False

        def judged(standing: Mapping[str, Strand]) -> str | None:
            nonlocal committed
            if committed:
                assert broken(self.world) == []
            chosen = choose(standing)
            committed = chosen is not None and standing[chosen].stands == "COMMIT"
            return chosen

        return judged


@pytest.fixture
def theatre(
    world: World, databases: Databases, database_url: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Theatre]:
    monkeypatch.setattr("app.services.analyses.enqueue.uuid4", in_order)  # jobs are looked through by their ids
    watcher = psycopg2.connect(
        make_url(database_url).set(drivername="postgresql").render_as_string(hide_password=False)
    )
    watcher.autocommit = True
    with ExitStack() as stack:
        stack.callback(watcher.close)
        engines = [stack.enter_context(stepped_engine(database_url)) for _ in range(3)]
        worlds = [replace(world, uow=UnitOfWork(engine, world.uow.publisher, pipelined=False)) for engine in engines]
        rows = stack.enter_context(databases.rows_of(database_url))
        gates = Gates(watcher, [pid_of(engine) for engine in engines])
        for function in STEPPED:
            gates.put_into(function)
        yield Theatre(world, Stage(gates), Catalogue(watcher, STEPPED), worlds, rows)


def pid_of(engine: Engine) -> int:
    """The server's process of the engine's one connection."""
    with engine.connect() as connection:
        return int(connection.execute(text("SELECT pg_backend_pid()")).scalar_one())
