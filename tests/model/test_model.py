"""Every state of three jobs of one user is looked at, and each seeded mistake is found (docs/adr/0023)."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from app.domain.queues import Service
from tests.model.explore import Explorer
from tests.model.job import Message, Payer, Record
from tests.model.mistakes import MISTAKES, Mistake
from tests.model.steps import STEPS, Rules

LEAST = 1_000_000  # states
#: Where each mistake is to show itself: two attempts, one zombie per job, somebody who joins.
SMALL = Rules(attempts=2, carrying=False)

#: Both services; two specifications fit at once.
BOTH = replace(SMALL, spec_units=4, zombies=0, services=(Service.ANALYSIS, Service.SPECVIEW, Service.SPECVIEW))

BOUNDED = {
    "late workers and two attempts": Rules(attempts=2, joinable=False),
    "two slots and a second user": Rules(slots=2, attempts=1, zombies=0, carrying=False),
    "a second user with a line of their own": Rules(units=1, attempts=1, zombies=0),
}
TWO_SERVICES = {
    "an analysis beside specifications": replace(BOTH, attempts=1),
    "an analysis beside specifications, of which one fits": replace(BOTH, spec_units=3),
}
WIDE = {
    "three attempts": Rules(joinable=False),
    "two slots and late workers": Rules(slots=2, attempts=2, joinable=False),
    "late workers and a second user": Rules(attempts=1, carrying=False),
    "late workers, two slots and a second user": Rules(slots=2, attempts=1, carrying=False),
    "a second user with a line of their own, and two units": Rules(attempts=1, zombies=0),
    "a second user with a line of their own, and late workers": Rules(units=1, attempts=1),
}
WIDE_OF_TWO_SERVICES = {
    "an analysis beside specifications, two attempts": BOTH,
    "an analysis beside specifications, late workers": replace(BOTH, attempts=1, zombies=1),
}
IS_WIDE = "MODEL_WIDE" in os.environ
EXPLORED, EXPLORED_TOGETHER = (WIDE, WIDE_OF_TWO_SERVICES) if IS_WIDE else (BOUNDED, TWO_SERVICES)


@pytest.mark.proof
@pytest.mark.timeout(900)  # 20 s of a processor, which a busy machine may not give in 120
def test_no_state_breaks_an_invariant_and_there_are_a_million_of_them() -> None:
    most = 0
    for name, rules in EXPLORED.items():
        result = Explorer(rules).run()
        print(f"{name}: {result}")
        assert result.broken is None, result
        most = max(most, result.states)
    assert most >= LEAST


@pytest.mark.proof
@pytest.mark.parametrize("name", EXPLORED_TOGETHER)
def test_no_state_of_two_services_breaks_an_invariant(name: str) -> None:
    result = Explorer(EXPLORED_TOGETHER[name]).run()
    print(f"{name}: {result}")
    assert result.broken is None, result


@pytest.mark.proof
@pytest.mark.parametrize(
    "rules",
    [Rules(attempts=1, zombies=0, joinable=False), replace(BOTH, attempts=1, spec_units=2)],
    ids=["three analyses", "an analysis beside specifications"],
)
def test_as_many_states_are_counted_as_there_are_where_each_order_of_the_jobs_is_visited(rules: Rules) -> None:
    one_of_all, each = Explorer(rules), Explorer(rules, alike=False)
    found, control = one_of_all.run(), each.run()
    assert (found.states, found.transitions, found.depth) == (control.states, control.transitions, control.depth)
    assert control.states == len(each.parents) > len(one_of_all.parents)
    assert set(one_of_all.met()) == set(each.met())


@pytest.mark.parametrize("mistake", MISTAKES, ids=str)
def test_a_seeded_mistake_is_found_with_the_steps_that_lead_there(mistake: Mistake) -> None:
    small = replace(SMALL, carrying=mistake.carrying)
    rules = replace(BOTH, spec_units=mistake.spec_units) if mistake.spec_units else small
    result = Explorer(rules, STEPS | mistake.steps).run(LEAST)
    print(f"{mistake}: {result}")
    assert result.broken is not None
    assert result.broken[0] == mistake.breaks
    assert result.trace
    first = (1, 2) if mistake.spec_units else (1,)  # the second job is the first specification
    assert result.trace[0].strip().startswith(tuple(f"1. job {place}: " for place in first))


@pytest.mark.proof
def test_every_step_is_made_and_every_message_and_record_is_met_and_none_of_them_breaks_an_invariant() -> None:
    rules = replace(SMALL, carrying=True)
    explorer = Explorer(rules)
    result = explorer.run(100_000)
    assert result.broken is None, result
    met = list(explorer.met())
    made = {name for name, step in STEPS.items() if any(any(step(job, others, rules)) for job, others in met)}
    assert made == set(STEPS)
    assert {job.message for job, _ in met} == set(Message)
    assert {job.record for job, _ in met} == set(Record)
    assert {job.payer for job, _ in met} == set(Payer)


@pytest.mark.proof
def test_specifications_are_billed_whatever_they_hold_and_wait_for_their_own_alone() -> None:
    explorer = Explorer(replace(BOTH, attempts=1))
    explorer.run()
    met = [(job, others) for job, others in explorer.met() if job.service is Service.SPECVIEW]
    assert {job.billed for job, _ in met} == {0, 1, 2}
    assert any(job.message is Message.STARTED and others.other_slots for job, others in met)
    assert any(job.message is Message.SNOOZED and others.slots and not others.other_slots for job, others in met)
    assert not any(job.joined for job, _ in met)
