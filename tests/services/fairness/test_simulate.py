"""Replaying recorded jobs: the log that goes out comes in again, and other limits change the waits."""

from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from app.cli.recorded_jobs import lines, read
from app.domain.plans import Tier
from app.domain.queues import JOB_QUEUES
from app.domain.simulation import Arrival, Run
from app.errors import InvalidInput
from app.services.fairness.simulate import Load, recorded, simulate
from tests.conftest import World
from tests.services.fairness.courses import at, lived, ran

LIMITS = {Tier.FREE: 1, Tier.PRO: 3, Tier.PRO_PLUS: 3, Tier.ENTERPRISE: 5}
WORKERS = dict.fromkeys(JOB_QUEUES, 2)
ROW = {"at": "2026-11-21T12:00:00+00:00", "user": "a", "tier": "free", "queue": "analysis_default", "seconds": 10}


def burst(count: int, tier: Tier = Tier.FREE, queue: str = "analysis_default") -> Load:
    """So many jobs of ten seconds of one user at once, as two processes and one slot ran them."""
    runs = [Run(Arrival(1000.0, "a", tier, queue, 10), 1000.0 + 10.5 * number) for number in range(count)]
    return Load([run.arrival for run in runs], runs)


def test_waits_are_told_by_tier_next_to_the_recorded_ones() -> None:
    told = simulate(burst(3), LIMITS, WORKERS)
    assert (told.jobs, told.turnaround, told.workers) == (3, 0.5, {"analysis_default": 2})
    [free] = told.tiers
    assert (free.wait_p50, free.wait_p95) == (free.recorded_p50, free.recorded_p95) == (10.5, 21)
    [queue] = told.queues
    assert (queue.jobs, queue.busy) == (3, round(30 / (2 * 31), 3))


def test_other_limits_and_numbers_of_workers_change_the_waits() -> None:
    [two] = simulate(burst(3), LIMITS | {Tier.FREE: 2}, WORKERS).tiers
    assert (two.wait_p50, two.wait_p95) == (0, 10.5)
    [three] = simulate(burst(3), LIMITS | {Tier.FREE: 3}, WORKERS | {"analysis_default": 3}).tiers
    assert (three.wait_p50, three.wait_p95) == (0, 0)


def test_a_load_that_is_written_and_read_is_the_same() -> None:
    load = burst(4, Tier.PRO, "analysis_priority")
    again = read(lines(load))
    assert (again.arrivals, again.runs) == (load.arrivals, load.runs)


def test_a_log_need_not_tell_when_a_job_started() -> None:
    load = read([json.dumps(ROW), "", json.dumps(ROW)])
    [free] = simulate(load, LIMITS, WORKERS).tiers
    assert (free.wait_p95, free.recorded_p95) == (10, None)


@pytest.mark.parametrize(
    "wrong",
    [
        "no json", "[]", json.dumps({**ROW, "at": "2026-11-21T12:00:00"}), json.dumps({**ROW, "tier": "gold"}),
        json.dumps({**ROW, "queue": "other"}), json.dumps({**ROW, "seconds": -1}), json.dumps({**ROW, "seconds": "nan"}),
        json.dumps({**ROW, "wait_seconds": -1}), json.dumps({"at": ROW["at"]}),
    ],
)  # fmt: skip
def test_a_line_that_is_no_recorded_job_is_named(wrong: str) -> None:
    with pytest.raises(InvalidInput, match="line 2 "):
        read([json.dumps(ROW), wrong])


def test_without_jobs_there_is_nothing_to_replay() -> None:
    with pytest.raises(InvalidInput):
        simulate(Load([], []), LIMITS, WORKERS)


def test_jobs_are_recorded_with_all_their_attempts_and_without_those_that_never_started(world: World) -> None:
    ann = world.user(Tier.PRO)
    lived(world, ann, 0, (5, "started"), (7, "retrying"), (10, "started"), (13, "completed"))
    ran(world, ann, 1, 2, 4)
    lived(world, ann, 1, (2, "cancelled"))
    lived(world, ann, 1)
    load = recorded(world.uow, since=world.now, until=at(world, 60))
    assert sorted((run.wait, run.arrival.seconds) for run in load.runs) == [(1, 2), (5, 5)]
    assert {(arrival.tier, arrival.queue) for arrival in load.arrivals} == {(Tier.PRO, "analysis_priority")}
    assert load.unknown == 1


def test_the_command_replays_a_log_or_the_database(world: World, fairlane: Any, tmp_path: Path) -> None:
    log = tmp_path / "log.jsonl"
    log.write_text("\n".join(lines(burst(3))))
    page = fairlane("simulate", "--from", str(log))
    assert page.exit_code == 0, page.output
    assert "3 jobs, 0.5 s from the end of one to the next start" in page.stdout
    told = json.loads(
        fairlane("simulate", "--from", str(log), "--limits", "free=2", "--workers", "default=3", "--json").stdout
    )
    assert (told["limits"]["free"], told["workers"], told["tiers"][0]["wait_p95"]) == (2, {"analysis_default": 3}, 10.5)
    assert fairlane("simulate").exit_code == 1
    user = world.user()
    begin = datetime.now(UTC) - timedelta(minutes=10) - world.now
    ran(world, user, begin.total_seconds(), begin.total_seconds() + 1, begin.total_seconds() + 3)
    assert json.loads(fairlane("simulate", "--json").stdout)["jobs"] == 1


@pytest.mark.parametrize(
    "given",
    [
        ("--limits", "gold=1"),
        ("--limits", "free=0"),
        ("--limits", "free"),
        ("--workers", "other=1"),
        ("--from", "none"),
    ],
)
def test_what_makes_no_sense_is_a_wrong_usage(fairlane: Any, given: tuple[str, str]) -> None:
    assert fairlane("simulate", *given).exit_code == 2
