"""What an account does while it moves happens before the move or not at all, at each of the move's statements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack
from dataclasses import dataclass, replace
from datetime import timedelta
from functools import partial
from typing import Any
from uuid import UUID

import psycopg2
import pytest
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.webhooks import WebhookFields
from app.errors import Problem
from app.services.accounts import tokens
from app.services.accounts.tokens import Token
from app.services.cells.move_account import Moved, move
from app.services.jobs.cancel import cancel
from app.services.webhooks import webhooks
from app.services.webhooks.webhooks import Where
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.jobs import heartbeats
from app.store.operations import retention
from tests.conftest import A_FILE, NOW, World
from tests.race.conftest import pid_of
from tests.race.gates import Gates
from tests.race.invariants import broken
from tests.race.stepping import Stage, Strand, stepped_engine
from tests.services.busy import account
from tests.services.webhooks.receiving import KEYRING, URL

#: Of the whole move each one is a place for what races with it; a test plays every so many of them.
STRIDE = 3


@dataclass(frozen=True)
class Scene:
    """An account with a job that has ended, one that runs and one that waits.  queued: its delivery, not started."""

    user: UUID
    account: Account
    done: UUID
    running: Delivery
    queued: Delivery


#: What the account does in the cell that it leaves.
Act = Callable[[World, Scene], Any]


def beat(world: World, scene: Scene) -> bool | None:
    with world.uow.begin() as tx:
        return heartbeats.beat(tx, Service.ANALYSIS, scene.running, ("parse", 1, 2), lease_seconds=60)


def expire(world: World, scene: Scene) -> str | None:
    """What has ended expires; the jobs in flight stay.  -> whether it was there."""
    with world.uow.begin() as tx:
        return "expired" if retention.expire_history(tx, None, 100, now=NOW + timedelta(days=1000)).rows else None


ACTS: Mapping[str, Act] = {
    "accept": lambda world, scene: world.submit(scene.user),
    "start": lambda world, scene: world.start(scene.queued, scene.user),
    "finish": lambda world, scene: world.finish(scene.running, scene.user, [A_FILE]),
    "cancel": lambda world, scene: cancel(world.uow, scene.queued.job_id, scene.account, world.policy, now=world.now),
    "heartbeat": beat,
    "expire": expire,
    "token": lambda world, scene: tokens.add_token(world.uow, scene.user, name="late", now=NOW),
    "webhook": lambda world, scene: webhooks.add(
        world.uow, scene.user, WebhookFields(URL, "", ()), Where(), KEYRING, now=NOW
    ),
}


@dataclass(frozen=True)
class Crossing:
    """Both cells; mover, actor: worlds whose statements stop."""

    world: World
    there: World
    stage: Stage
    mover: tuple[UnitOfWork, UnitOfWork]
    actor: World

    def play(self, act: Act, after: int) -> tuple[Scene, Any, bool]:
        """Act when the move has done so many statements; -> what came of it, and whether the move was over before."""
        user = self.world.user(Tier.PRO)
        done = self.world.running(user)
        assert self.world.finish(done, user, [A_FILE]) is Outcome.COMPLETED
        running, queued = self.world.running(user), self.world.lease(self.world.submit(user))
        scene = Scene(user, account(self.world, user), done.job_id, running, queued)
        left, is_over = after, False

        def choose(standing: Mapping[str, Strand]) -> str | None:
            nonlocal left, is_over
            if left > 0 and "a" in standing:
                left -= 1
                return "a"
            is_over = is_over or left > 0
            return "b" if "b" in standing else "a"

        moving = partial(move, *self.mover, user, epoch=1)
        moved, outcome = self.stage.play([moving, partial(act, self.actor, scene)], choose)
        assert isinstance(moved, Moved), moved
        return scene, outcome, is_over


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


def check(crossing: Crossing, scene: Scene, outcome: Any) -> None:
    """Whatever was answered is so in the new cell, and nothing is left in the old one."""
    world, there, user = crossing.world, crossing.there, str(scene.user)
    refused = isinstance(outcome, (Problem, IntegrityError))
    assert refused or not isinstance(outcome, Exception), outcome
    assert broken(world) == broken(there) == []
    assert world.rows("SELECT 1 AS found FROM users WHERE id = :user", user=user) == []
    assert world.rows("SELECT 1 AS found FROM broker_message WHERE group_name = :user", user=user) == []
    assert world.rows("SELECT 1 AS found FROM usage_events WHERE user_id = :user", user=user) == []
    jobs = {scene.done: "done", scene.running.job_id: "running", scene.queued.job_id: "queued"}
    if has_expired := outcome == "expired":
        del jobs[scene.done]
    if isinstance(outcome, UUID):
        jobs[outcome] = "accepted"
    requests = there.rows("SELECT job_id FROM analysis_requests WHERE user_id = :user", user=user)
    assert {row["job_id"] for row in requests} == set(jobs)
    bills = there.rows("SELECT job_id, forgotten_at FROM usage_events WHERE user_id = :user", user=user)
    assert len(bills) == 1 + (outcome is Outcome.COMPLETED)
    assert [row["job_id"] for row in bills if row["forgotten_at"]] == [scene.done] * has_expired
    for table, kind in (("api_tokens", Token), ("webhooks", tuple)):
        there_are = there.value(f"SELECT count(*) FROM {table} WHERE user_id = :user", user=user)
        assert there_are == isinstance(outcome, kind), table


def of(act: str, first: int, crossing: Crossing) -> set[str]:
    """Play at each place; -> the kinds of outcomes."""
    kinds, after, is_over = set(), first, False
    while not is_over:
        scene, outcome, is_over = crossing.play(ACTS[act], after)
        check(crossing, scene, outcome)
        kinds.add(str(outcome) if isinstance(outcome, Outcome) else type(outcome).__name__)
        after += STRIDE
    assert after > 60
    return kinds


@pytest.mark.proof
@pytest.mark.parametrize("first", range(STRIDE))
@pytest.mark.parametrize("act", ACTS)
def test_what_races_with_a_move_comes_before_it_or_not_at_all(crossing: Crossing, act: str, first: int) -> None:
    assert len(of(act, first, crossing)) >= 1


def test_a_finish_that_waits_for_the_move_writes_nothing(crossing: Crossing) -> None:
    """The move has locked the account by then."""
    locked = 75
    scene, outcome, is_over = crossing.play(ACTS["finish"], locked)
    assert (outcome, is_over) == (Outcome.STALE, False)
    check(crossing, scene, outcome)
