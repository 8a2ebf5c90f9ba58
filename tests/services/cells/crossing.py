"""A move of an account between two cells that stops at each statement, and what the account does meanwhile."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from itertools import product
from typing import Any
from uuid import UUID

import psycopg2
import pytest
from sqlalchemy.engine import make_url

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import Tier
from app.errors import Problem
from app.services.accounts.forget import Forgotten
from app.services.cells.move_account import Moved, move
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import A_FILE, World
from tests.race.conftest import pid_of
from tests.race.gates import Gates
from tests.race.stepping import Stage, Strand, stepped_engine
from tests.services.busy import account

#: Of the whole move each statement is a place for what races with it; a test plays every so many of them.
STRIDE = 3


@dataclass(frozen=True)
class Scene:
    """An account with a job that has ended, one that runs and one that waits.

    queued: its delivery, not started; thing: what a change is about.
    """

    user: UUID
    account: Account
    done: UUID
    running: Delivery
    queued: Delivery
    thing: Any = None


#: The strands of a play.
MOVER, ACTOR = "a", "b"
#: What the account does in the cell that it leaves.
Act = Callable[[World, Scene], Any]


@dataclass(frozen=True)
class Crossing:
    """Both cells; mover, actor: worlds whose statements stop."""

    world: World
    there: World
    stage: Stage
    mover: tuple[UnitOfWork, UnitOfWork]
    actor: World

    def play(
        self, act: Act, after: int, make: Callable[[World, Account], Any] = lambda *_: None, *, leads: str = MOVER
    ) -> tuple[Scene, Any, bool]:
        """Act when the move has done so many statements; -> what came of it, and whether the move was over before.

        make: the thing that the act changes; leads: who does so many; if it is the act, the move comes in between.
        """
        user = self.world.user(Tier.PRO)
        done = self.world.running(user)
        assert self.world.finish(done, user, [A_FILE]) is Outcome.COMPLETED
        running, queued = self.world.running(user), self.world.lease(self.world.submit(user))
        who = account(self.world, user)
        scene = Scene(user, who, done.job_id, running, queued, make(self.world, who))
        left, is_over = after, False
        follows = ACTOR if leads == MOVER else MOVER

        def choose(standing: Mapping[str, Strand]) -> str | None:
            nonlocal left, is_over
            if left > 0 and leads in standing:
                left -= 1
                return leads
            is_over = is_over or left > 0
            return follows if follows in standing else leads

        moving = partial(move, *self.mover, user, epoch=1)
        moved, outcome = self.stage.play([moving, partial(act, self.actor, scene)], choose)
        is_deleted = isinstance(outcome, Forgotten)
        assert isinstance(moved, Problem if is_deleted else Moved), (moved, outcome)
        return scene, outcome, is_over


def places(acts: Iterable[str]) -> list[tuple[str, int]]:
    """Each act and the first statement at which it is played: one of them in turns, all with CELL_PLACES=all."""
    if os.environ.get("CELL_PLACES") == "all":
        return list(product(acts, range(STRIDE)))
    return [(act, number % STRIDE) for number, act in enumerate(acts)]


@pytest.fixture
def crossing(world: World, there: World) -> Iterator[Crossing]:
    urls = [cell.uow.engine.url for cell in (world, there)]
    plain = make_url(urls[0]).set(drivername="postgresql").render_as_string(hide_password=False)
    with ExitStack() as stack:
        watcher = psycopg2.connect(plain)
        watcher.autocommit = True
        stack.callback(watcher.close)
        source, target, other = (
            stack.enter_context(stepped_engine(url.render_as_string(hide_password=False)))
            for url in (urls[0], urls[1], urls[0])
        )
        publish = world.uow.publisher
        mover = (UnitOfWork(source, publish, pipelined=False), UnitOfWork(target, publish, pipelined=False))
        actor = replace(world, uow=UnitOfWork(other, publish, pipelined=False))
        # a prepared transaction, for which one may wait, has no process: it is 0
        gates = Gates(watcher, [pid_of(source), pid_of(target), pid_of(other), 0])
        yield Crossing(world, there, Stage(gates), mover, actor)
