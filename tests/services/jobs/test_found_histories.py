"""Histories that a search with new random numbers has found to go wrong (`make prove-lifecycle`), step by step."""

from __future__ import annotations

from app.domain.plans import Tier
from tests.conftest import World
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
