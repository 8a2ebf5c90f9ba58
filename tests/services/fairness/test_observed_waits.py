"""What is learnt of waits, and how estimates use it (docs/adr/0029)."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from app.domain.waiting import Pace
from app.store.fairness.observed_waits import LEAST_STARTS, SPAN, ObservedWaits
from tests.conftest import World

SEEN = """
    WITH told AS (SELECT gen_random_uuid() AS job_id, n FROM generate_series(1, :count) n),
    accepted AS (
        INSERT INTO job_events (job_id, event, at, facts)
        SELECT job_id, 'accepted', CAST(:now AS timestamptz) - make_interval(secs => :waited * n),
               jsonb_build_object('queue', 'analysis_default', 'held', CAST(:held AS boolean), 'guess', :guess)
          FROM told)
    INSERT INTO job_events (job_id, event, at, facts)
    SELECT job_id, 'started', CAST(:now AS timestamptz), '{"attempt": 1}' FROM told RETURNING 1"""


def seen(world: World, *, guess: float, waited: float, held: bool = False, count: int = LEAST_STARTS) -> None:
    """Jobs that were guessed to wait so long, and waited once, twice, three times … that."""
    world.rows(SEEN, guess=guess, waited=waited, held=held, count=count, now=world.now)


def learnt(world: World, observed: ObservedWaits | None = None, after: float = 1.0) -> dict[tuple[str, bool], Pace]:
    with world.uow.begin() as tx:
        now = world.now + timedelta(seconds=after)
        return dict((observed or ObservedWaits()).paces(tx, now=now))


def test_quotients_of_waits_and_guesses_are_learnt_for_each_queue_and_kind(world: World) -> None:
    seen(world, guess=9.0, waited=1.0)  # quotients of (1 + 1) / 10 to (20 + 1) / 10
    found = learnt(world)
    assert found.keys() == {("analysis_default", False)}
    pace = found["analysis_default", False]
    assert (pace.middle, pace.waited) == (pytest.approx(1.15), pytest.approx(10.5))
    assert 0.2 < pace.low < 0.5
    assert 1.8 < pace.high < 2.1


def test_of_few_starts_and_of_old_ones_nothing_is_learnt(world: World) -> None:
    seen(world, guess=9.0, waited=1.0, count=LEAST_STARTS - 1)
    assert learnt(world) == {}
    seen(world, guess=9.0, waited=1.0, held=True)
    assert learnt(world).keys() == {("analysis_default", True)}
    assert learnt(world, after=SPAN.total_seconds() + 1) == {}


def test_a_process_looks_again_after_five_seconds(world: World) -> None:
    observed = ObservedWaits()
    assert learnt(world, observed) == {}
    seen(world, guess=9.0, waited=1.0)
    assert learnt(world, observed, after=5.9) == {}
    assert len(learnt(world, observed, after=6.1)) == 1


def accepted(world: World) -> dict[str, Any]:
    """Facts of a job that is held behind one that runs and two that are ready, of a user whose jobs took 4 s."""
    user = world.user()
    running = world.running(user)
    replace(world, now=world.now + timedelta(seconds=4)).finish(running, user)
    world.running(user)
    for _ in range(2):
        world.submit(user)
    facts: dict[str, Any] = world.value(
        "SELECT facts FROM job_events WHERE event = 'accepted' AND job_id = :id", id=world.submit(user)
    )
    return facts


def test_an_accept_tells_what_was_learnt_and_keeps_its_guess_to_learn_from(world: World) -> None:
    before = accepted(world)
    for held in (True, False):
        seen(world, guess=1.0, waited=1.0, held=held)
    wise = accepted(replace(world, policy=replace(world.policy, observed_waits=ObservedWaits())))
    assert (before["held"], before["guess"], wise["held"]) == (True, 12.0, True)
    assert wise["guess"] == pytest.approx(3 * (4.0 + 10.5), rel=0.05)  # each of three waits for a worker, too
    assert wise["eta"][1] > 2 * before["eta"][1]
