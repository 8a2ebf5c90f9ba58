"""Histories that a search with new random numbers has found to go wrong (`make prove-lifecycle`), step by step."""

from __future__ import annotations

from uuid import UUID

import pytest

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.accounts import tiers
from app.services.fairness import move_jobs
from tests.conftest import World
from tests.model.job import Message
from tests.model.life import COMMITS, Life


def life(world: World) -> Life:
    """A machine whose steps a test makes by itself."""
    return type("OnThisDatabase", (Life,), {"fresh": world})()


def test_a_job_with_a_dead_slot_moves_to_a_joiner_whose_tier_rises(world: World) -> None:
    machine = life(world)
    joiner, payer, _ = machine.users
    for commit in COMMITS[:2]:
        machine.submit(payer, commit, retry=True)
    [job_id, _] = machine.unfinished()
    for _ in range(3):
        machine.befall(job_id, "claim and start")
        machine.die(job_id)
    machine.submit(joiner, COMMITS[0])
    machine.change_tier(joiner, Tier.PRO)
    assert machine.after[job_id].line == joiner
    machine.teardown()


def test_a_payer_who_has_left_and_cancels_again_changes_nothing(world: World) -> None:
    machine = life(world)
    payer, _, joiner = machine.users
    machine.submit(payer, COMMITS[0])
    [job_id] = machine.unfinished()
    machine.befall(job_id, "claim and start")
    machine.submit(joiner, COMMITS[0])
    machine.cancel(payer, job_id)
    machine.befall(job_id, "retry")
    machine.cancel(payer, job_id)
    assert world.value("SELECT count(*) FROM job_events WHERE event = 'payer_left'") == 1
    machine.settle(job_id)  # as the next sweep does, since nobody is left in that line
    assert machine.after[job_id].line == joiner
    machine.teardown()


def test_a_job_to_be_cancelled_is_not_held_back_by_a_sibling_that_finds_no_slot(world: World) -> None:
    machine = life(world)
    user = machine.users[0]
    for commit in COMMITS[:3]:
        machine.submit(user, commit)
    cancelled, runs, waits = machine.unfinished()
    machine.befall(cancelled, "claim and start")
    machine.cancel(user, cancelled)
    machine.die(cancelled)
    machine.befall(runs, "claim and start")
    if machine.after[waits].job.message is Message.SNOOZED:
        machine.befall(waits, "due")
    machine.befall(waits, "claim and start")
    assert machine.after[waits].job.message is Message.SNOOZED
    assert machine.after[cancelled].job.message is Message.READY
    machine.befall(cancelled, "claim and start")
    assert machine.after[cancelled].job.ended
    machine.teardown()


def test_a_look_at_head_is_no_job_that_was_left(world: World) -> None:
    machine = life(world)
    user = machine.users[0]
    machine.submit(user, COMMITS[0])
    [job_id] = machine.unfinished()
    machine.befall(job_id, "claim and start")
    machine.befall(job_id, "finish")
    machine.submit(user, COMMITS[0])
    assert world.value("SELECT count(*) FROM kombu_message") == 1
    machine.teardown()


def carried_by_somebody_who_left(machine: Life) -> UUID:
    """A started job whose carrier has left it, and which its payer and another user still want."""
    payer, carrier, joiner = machine.users
    for commit in COMMITS[:2]:
        machine.submit(payer, commit)
    job_id = machine.unfinished()[1]
    machine.submit(carrier, COMMITS[1])
    assert machine.after[job_id].line == carrier
    machine.befall(job_id, "claim and start")
    machine.submit(joiner, COMMITS[1])
    machine.cancel(carrier, job_id)
    return job_id


def test_a_carrier_who_has_left_and_cancels_again_changes_nothing(world: World) -> None:
    machine = life(world)
    job_id = carried_by_somebody_who_left(machine)
    machine.befall(job_id, "retry")
    machine.cancel(machine.users[1], job_id)
    machine.teardown()


def test_a_job_that_snoozes_in_the_line_of_somebody_who_left_moves_to_an_asker(world: World) -> None:
    machine = life(world)
    job_id = carried_by_somebody_who_left(machine)
    machine.befall(job_id, "retry")
    machine.submit(machine.users[1], COMMITS[2])
    machine.befall(machine.unfinished()[-1], "claim and start")
    machine.befall(job_id, "due")
    machine.befall(job_id, "claim and start")
    assert machine.after[job_id].line in (machine.users[0], machine.users[2])
    machine.teardown()


def test_a_line_of_very_long_runs_is_counted_as_the_broker_places_it(world: World) -> None:
    machine = life(world)
    payer, joiner, _ = machine.users
    world.rows("UPDATE users SET run_seconds = 20000 RETURNING id")
    for commit in COMMITS[:4]:
        machine.submit(payer, commit)
    machine.befall(machine.unfinished()[0], "claim and start")
    for commit in COMMITS[4:6]:
        machine.submit(joiner, commit)
    machine.submit(joiner, COMMITS[3])
    machine.teardown()


def test_a_job_moves_from_a_place_behind_a_lost_job_that_has_come_back_to_the_head(world: World) -> None:
    machine = life(world)
    other, payer, joiner = machine.users
    machine.submit(other, COMMITS[0])
    [lost] = machine.unfinished()
    machine.befall(lost, "claim and start")
    machine.submit(other, COMMITS[1])
    machine.submit(payer, COMMITS[2])
    shared = machine.unfinished()[-1]
    machine.die(lost)
    for commit in COMMITS[3:7]:
        machine.submit(joiner, commit)
    for job_id in machine.unfinished()[3:5]:
        machine.befall(job_id, "claim and start")
    machine.change_tier(joiner, Tier.FREE)
    machine.submit(joiner, COMMITS[2])
    assert machine.after[shared].line == payer
    machine.change_tier(joiner, Tier.PRO)
    assert machine.after[shared].line == joiner
    machine.teardown()


QUEUE = """
    SELECT q.name FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id WHERE m.task_id = CAST(:job_id AS text)"""


@pytest.mark.parametrize("again", ["retry", "lost and started"])
def test_a_job_whose_user_is_downgraded_while_it_runs_holds_back_its_siblings_afterwards(
    world: World, again: str
) -> None:
    machine = life(world)
    user = machine.users[2]
    machine.submit(user, COMMITS[0])
    for commit in COMMITS[1:4]:
        machine.submit(user, commit)
    jobs = machine.unfinished()
    for job_id in jobs[:3]:
        machine.befall(job_id, "claim and start")
    machine.change_tier(user, Tier.FREE)
    if again == "retry":
        machine.befall(jobs[0], "retry")
        machine.befall(jobs[0], "due")
    else:
        machine.die(jobs[0])
    machine.befall(jobs[0], "claim and start")
    assert world.value(QUEUE, job_id=jobs[0]) == "analysis_default"
    machine.teardown()


@pytest.mark.parametrize(
    ("before", "after", "queue"),
    [(Tier.PRO, Tier.FREE, "analysis_default"), (Tier.FREE, Tier.ENTERPRISE, "analysis_priority")],
)
def test_a_lost_job_of_a_user_with_another_tier_is_moved_by_the_sweep(
    world: World, before: Tier, after: Tier, queue: str
) -> None:
    user, bystander = world.user(before), world.user(before)
    delivery, waits = world.running(user), world.submit(bystander)
    stays = world.value(QUEUE, job_id=waits)
    tiers.change_tier(world.uow, user, after, world.policy, actor="test", now=world.now)
    world.lose(delivery.job_id)
    assert world.value(QUEUE, job_id=delivery.job_id) == stays
    move_jobs.move_misplaced(world.uow)
    assert world.value(QUEUE, job_id=delivery.job_id) == queue
    assert world.value(QUEUE, job_id=waits) == stays
    assert world.start(world.lease(delivery.job_id), user) is Outcome.STARTED
