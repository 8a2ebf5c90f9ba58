"""Who waited how long and for what, from the timeline and the operators' acts."""

from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from app.domain.fairness import FairnessMode, FairnessPolicy
from app.domain.plans import Tier
from app.domain.queues import JOB_QUEUES
from app.services.fairness import report_waits
from app.services.fairness.report_waits import By, Report, Waits, report
from app.services.fairness.tenants import tenants
from app.store.fairness import waits
from tests.conftest import World
from tests.services.fairness.courses import at, lived, ran, tell

WORKERS = dict.fromkeys(JOB_QUEUES, 2)
CAUSES = ("own_limit", "paused", "others", "no_worker")

OF_ANOTHER_PROGRAM = text("""
    UPDATE kombu_message SET user_id = 'shop-7', visible = false, visible_at = now() + interval '1 h'
     WHERE task_id = :job_id""")


def told(world: World, by: By = "user", *, since: float = 0, until: float = 3600) -> Report:
    return report(world.uow, world.policy, by=by, since=at(world, since), until=at(world, until), workers=WORKERS)


def of(world: World, user_id: UUID, **span: float) -> Waits:
    [row] = [row for row in told(world, **span).items if row.user_id == str(user_id)]  # type: ignore[arg-type]
    return row


def causes(row: Waits) -> tuple[float, ...]:
    return tuple(getattr(row, cause) for cause in CAUSES)


def test_a_wait_is_split_into_what_it_was_spent_on(world: World) -> None:
    ann, bob = world.user(), world.user()
    ran(world, ann, 0, 0, 10)
    ran(world, bob, 0, 0, 30)
    ran(world, ann, 0, 40, 50)
    # ten seconds behind ann's own, twenty behind bob's, ten where nobody ran
    row = of(world, ann)
    assert (row.jobs, row.wait_p50, row.wait_p95, row.wait_mean) == (2, 0, 40, 20)
    assert causes(row) == (5, 0, 10, 5)


def test_the_time_in_which_an_operator_had_paused_the_queue_is_told_apart(world: World) -> None:
    ann = world.user()
    ran(world, ann, 0, 60, 61)
    for action, second in (("queue.pause", 10), ("queue.pause", 12), ("queue.resume", 40), ("queue.resume", 45)):
        act = "INSERT INTO audit_log (at, actor, action, subject) VALUES (:at, 'cli', :act, 'analysis_default') RETURNING id"
        world.rows(act, at=at(world, second), act=action)
    assert causes(of(world, ann)) == (0, 30, 0, 30)


def test_a_pause_that_goes_on_lasts_until_the_end_of_the_span(world: World) -> None:
    act = "INSERT INTO audit_log (at, actor, action, subject) VALUES (:at, 'cli', 'queue.pause', 'q') RETURNING id"
    world.rows(act, at=at(world, 10))
    with world.uow.begin() as tx:
        assert waits.pauses(tx, until=at(world, 5)) == []
        assert waits.pauses(tx, until=at(world, 99)) == [("q", at(world, 10).timestamp(), at(world, 99).timestamp())]


def test_a_job_that_runs_since_before_the_span_takes_its_user_s_slot(world: World) -> None:
    ann = world.user()
    ran(world, ann, 0, 0, 100)
    ran(world, ann, 60, 100, 110)
    row = of(world, ann, since=50)
    assert (row.jobs, causes(row)) == (1, (40, 0, 0, 0))


def test_between_two_attempts_the_slot_is_free(world: World) -> None:
    ann = world.user()
    lived(world, ann, 0, (0, "started"), (10, "retrying"), (30, "started"), (40, "failed"))
    ran(world, ann, 0, 30.5, 31)
    assert causes(of(world, ann)) == pytest.approx((5.25, 0, 0, 10), abs=0.01)


def test_jobs_that_still_wait_are_counted_and_those_that_were_cancelled_are_not(world: World) -> None:
    ann = world.user()
    ran(world, ann, 0, 1, 9)
    lived(world, ann, 0)
    lived(world, ann, 0)
    lived(world, ann, 0, (5, "cancelled"))
    row = of(world, ann)
    assert (row.jobs, row.waiting) == (1, 2)


def test_tiers_are_told_by_the_tier_a_job_was_accepted_on(world: World) -> None:
    pro = world.user(Tier.PRO)
    for user in (world.user(), world.user(), pro):
        ran(world, user, 0, 2, 3)
    items = told(world, "tier").items
    assert {row.tier: row.jobs for row in items} == {"free": 2, "pro": 1}
    assert {row.user_id for row in items} == {None}


def test_limits_that_are_not_held_keep_nobody_waiting(world: World) -> None:
    off = world.with_policy(fairness=FairnessPolicy(mode=FairnessMode.OFF))
    ann = off.user()
    ran(off, ann, 0, 0, 10)
    ran(off, ann, 0, 10, 20)
    assert causes(of(off, ann)) == (0, 0, 0, 5)


def test_what_another_tier_would_have_changed_is_told_in_minutes(world: World) -> None:
    ann, big = world.user(), world.user(Tier.PRO)
    for number in range(3):
        ran(world, ann, 0, 600 * number, 600 * number + 600)
        ran(world, big, 0, 0, 1)
    # two processes run all at once but the third, which then waits ten minutes: (0 + 10 + 20 - 0 - 0 - 10) / 3
    assert of(world, ann).earlier_on_pro_minutes == pytest.approx(6.67, abs=0.05)
    assert of(world, big).earlier_on_pro_minutes is None


def test_the_sharing_of_a_queue_is_told_by_the_hour(world: World) -> None:
    ann, bob = world.user(), world.user()
    ran(world, ann, 0, 10, 100)
    ran(world, bob, 0, 10, 40)
    [hour] = told(world, "tier").sharing
    assert (hour.queue, hour.users, hour.index) == ("analysis_default", 2, 0.8)
    assert hour.hour == world.now.replace(minute=0, second=0, microsecond=0)


def test_of_too_many_jobs_the_newest_are_read_and_since_says_so(world: World) -> None:
    ann = world.user()
    for second in (0, 100, 200):
        ran(world, ann, second, second + 1, second + 2)
    with world.uow.begin() as tx:
        seen = waits.courses(tx, since=world.now, until=at(world, 3600), most=3)
        whole = waits.courses(tx, since=world.now, until=at(world, 3600), most=10)
    assert ([course.accepted for course in seen.courses], seen.since) == ([at(world, 200).timestamp()], at(world, 200))
    assert (len(whole.courses), whole.since) == (3, world.now)


def test_of_too_many_users_those_are_listed_who_waited_longest(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(report_waits, "MOST_USERS", 2)
    users = [world.user() for _ in range(4)]
    for number, user in enumerate(users):
        ran(world, user, 0, number, number)
    found = told(world)
    assert [row.user_id for row in found.items] == [str(users[3]), str(users[2])]
    assert found.more == 2


def test_the_times_of_real_steps_are_read_from_the_timeline(world: World) -> None:
    ann = world.user()
    first, second = world.submit(ann), world.submit(ann)
    for job_id in (first, second):
        delivery = world.lease(job_id)
        world.start(delivery, ann)
        world.finish(delivery, ann)
    # the world's time is not the database's, by which events are told
    until = datetime.now(UTC) + timedelta(minutes=1)
    real = replace(world, now=until - timedelta(hours=1))
    row = of(real, ann)
    assert row.jobs == 2
    assert 0 < row.wait_p50 <= row.wait_p95 < 60


def test_tenants_are_users_with_work_now(world: World) -> None:
    ann, bob = world.user(), world.user(Tier.PRO)
    world.running(ann)
    for _ in range(4):
        world.submit(ann)
    world.submit(bob)
    done = world.user()
    world.finish(world.running(done), done)
    rows = {row.user_id: row for row in tenants(world.uow, world.policy)}
    assert set(rows) == {ann, bob}
    assert {name: getattr(rows[ann], name) for name in ("service", "tier", "limit", "running", "ready", "held")} == {
        "service": "analysis", "tier": "free", "limit": 1, "running": 1, "ready": 2, "held": 2,
    }  # fmt: skip
    assert (rows[bob].limit, rows[bob].running, rows[bob].ready) == (3, 0, 1)
    assert len(tenants(world.uow, world.policy, most=1)) == 1


def test_a_tenant_of_another_program_on_the_broker_is_none_of_our_users(world: World) -> None:
    ann = world.user()
    world.submit(ann)
    with world.uow.begin() as tx:
        tx.run(OF_ANOTHER_PROGRAM, job_id=str(world.submit(ann)))
    [row] = tenants(world.uow, world.policy)
    assert (row.user_id, row.ready) == (ann, 1)


def test_the_command_prints_a_report_and_the_jobs(world: World, fairlane: Any) -> None:
    ann = world.user(email="ann@example.org")
    now = replace(world, now=datetime.now(UTC) - timedelta(minutes=30))
    ran(now, ann, 0, 4, 10)
    page = fairlane("fairness", "--by", "user")
    assert page.exit_code == 0, page.output
    assert "ann@example.org" in page.stdout
    [row] = json.loads(fairlane("fairness", "--json").stdout)["items"]
    assert (row["tier"], row["jobs"], row["wait_p50"]) == ("free", 1, 4)
    [line] = fairlane("fairness", "--export").stdout.splitlines()
    job = json.loads(line)
    assert (job["user"], job["tier"], job["queue"]) == (str(ann), "free", "analysis_default")
    assert (job["wait_seconds"], job["seconds"]) == (4, 6)
    assert json.loads(fairlane("fairness", "--since", "10m", "--json").stdout)["items"] == []
    assert fairlane("fairness", "--since", "yesterday").exit_code == 2


def test_a_late_event_of_a_job_that_ended_before_changes_nothing(world: World) -> None:
    ann = world.user()
    job_id = ran(world, ann, 0, 1, 2)
    tell(world, job_id, (3, "joined"))
    assert of(world, ann).jobs == 1
