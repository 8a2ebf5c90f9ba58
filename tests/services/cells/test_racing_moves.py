"""What an account does while it moves happens before the move or not at all, at each of the move's statements."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.exc import IntegrityError

from app.domain.lifecycle import Outcome
from app.domain.queues import Service
from app.domain.webhooks import WebhookFields
from app.errors import Problem
from app.services.accounts import tokens
from app.services.accounts.forget import Forgotten, forget
from app.services.accounts.tokens import Token
from app.services.jobs.cancel import cancel
from app.services.webhooks import webhooks
from app.services.webhooks.webhooks import Where
from app.store.jobs import heartbeats
from app.store.operations import retention
from tests.conftest import A_FILE, NOW, World
from tests.race.invariants import broken
from tests.services.cells.accounts import left_of
from tests.services.cells.crossing import ACTOR, STRIDE, Act, Crossing, Scene, places
from tests.services.webhooks.receiving import KEYRING, URL


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
    "delete": lambda world, scene: forget(world.uow, scene.user, actor="test", now=NOW),
}


def check(crossing: Crossing, scene: Scene, outcome: Any) -> None:
    """Whatever was answered is so in the new cell, and nothing is left in the old one."""
    world, there, user = crossing.world, crossing.there, str(scene.user)
    if isinstance(outcome, Forgotten):
        check_deleted(crossing, scene)
        return
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


def check_deleted(crossing: Crossing, scene: Scene) -> None:
    """The account is in neither cell, and nothing of its jobs was left in the one to which it was to move."""
    jobs = [scene.done, scene.running.job_id, scene.queued.job_id]
    assert crossing.world.finish(scene.running, scene.user, [A_FILE]) is Outcome.CANCELLED
    for cell in (crossing.world, crossing.there):
        assert broken(cell) == []
        assert cell.rows("SELECT 1 AS found FROM users WHERE id = :user", user=scene.user) == []
        for table in ("analysis_requests", "usage_events", "quota_reservations", "usage_sums", "webhooks"):
            assert cell.rows(f"SELECT 1 AS found FROM {table} WHERE user_id = :user", user=scene.user) == [], table
    assert left_of(crossing.there, jobs) == []


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
@pytest.mark.parametrize(("act", "first"), places(ACTS))
def test_what_races_with_a_move_comes_before_it_or_not_at_all(crossing: Crossing, act: str, first: int) -> None:
    assert len(of(act, first, crossing)) >= 1


@pytest.mark.parametrize("first", range(STRIDE))
def test_a_move_that_meets_a_deletion_is_refused_and_the_account_is_gone(crossing: Crossing, first: int) -> None:
    after, is_over, outcomes = first, False, set()
    while not is_over:
        scene, outcome, is_over = crossing.play(ACTS["delete"], after, leads=ACTOR)
        check(crossing, scene, outcome)
        outcomes.add(type(outcome))
        after += STRIDE
    assert after > 15
    assert Forgotten in outcomes


def test_a_finish_that_waits_for_the_move_writes_nothing(crossing: Crossing) -> None:
    """The move has locked the account by then."""
    locked = 83
    scene, outcome, is_over = crossing.play(ACTS["finish"], locked)
    assert (outcome, is_over) == (Outcome.STALE, False)
    check(crossing, scene, outcome)
