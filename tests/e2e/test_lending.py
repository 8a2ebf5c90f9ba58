"""Idle workers of the priority queue at work on the default one (docs/adr/0028)."""

from __future__ import annotations

from uuid import UUID

import pytest
from durable_harness.waiting import wait_for

from app.domain.plans import Tier
from app.services.operations import nodes
from tests.e2e.conftest import System
from tests.e2e.fire import start

pytestmark = pytest.mark.proof

#: Most jobs of one queue that ran at once.
AT_ONCE = """
    WITH runs AS (SELECT r.job_id, min(e.at) FILTER (WHERE e.event = 'started') AS began,
                         max(e.at) FILTER (WHERE e.event = 'completed') AS ended
                    FROM analysis_requests r JOIN job_events e USING (job_id) WHERE r.queue = :queue GROUP BY 1)
    SELECT coalesce(max((SELECT count(*) FROM runs o WHERE o.began <= runs.began AND o.ended > runs.began)), 0)
      FROM runs WHERE began IS NOT NULL"""
STARTED = "SELECT count(*) FROM job_events WHERE event = 'started' AND job_id = ANY(:jobs)"
DONE = "SELECT count(*) FROM job_events WHERE event = 'completed' AND job_id = ANY(:jobs)"


def submitted(system: System, tier: Tier, name: str, count: int) -> list[UUID]:
    world = system.world
    return [world.submit(world.user(tier), world.wanted(name)) for _ in range(count)]


@pytest.mark.parametrize(("floor", "lent"), [("1", 2), pytest.param("2", 1, marks=pytest.mark.proof)])
def test_a_priority_node_lends_what_its_floor_leaves_and_a_paid_job_need_not_wait(
    system: System, floor: str, lent: int
) -> None:
    free = submitted(system, Tier.FREE, "slow", 4)
    node = start(system.nodes, "paid", 3, {"QUEUE_LENDING": "true", "QUEUE_LENDING_FLOOR": floor}, "analysis_priority")
    node.ready()
    wait_for(lambda: system.world.value(STARTED, jobs=free) == lent, "free jobs to run")
    [paid] = submitted(system, Tier.PRO, "ms1", 1)
    system.wait(paid, "completed")
    assert system.world.value(DONE, jobs=free) == 0
    system.go_on()
    wait_for(lambda: system.world.value(DONE, jobs=free) == len(free), "the free jobs to end")
    assert system.world.value(AT_ONCE, queue="analysis_default") == lent
    assert '"lending"' in node.logs()
    [shown] = nodes.states(system.world.uow)
    assert (shown.queues, shown.lent) == (["analysis_priority", "analysis_default"], ["analysis_default"])


def test_nothing_is_lent_unless_the_operator_says_so(system: System) -> None:
    free = submitted(system, Tier.FREE, "ms1", 2)
    start(system.nodes, "paid", 2, {}, "analysis_priority").ready()
    paid = submitted(system, Tier.PRO, "ms1", 3)
    wait_for(lambda: system.world.value(DONE, jobs=paid) == len(paid), "the paid jobs to end")
    assert system.world.value(STARTED, jobs=free) == 0


def test_a_default_node_reads_its_own_queue_whole_and_takes_no_paid_work(system: System) -> None:
    free, paid = submitted(system, Tier.FREE, "slow", 4), submitted(system, Tier.PRO, "ms1", 1)
    start(system.nodes, "free", 2, {"QUEUE_LENDING": "true", "QUEUE_LENDING_FLOOR": "1"}, "analysis_default").ready()
    wait_for(lambda: system.world.value(STARTED, jobs=free) == 2, "two of them to run at once")
    system.go_on()
    wait_for(lambda: system.world.value(DONE, jobs=free) == len(free), "the free jobs to end")
    assert system.world.value(AT_ONCE, queue="analysis_default") == 2
    assert system.world.value(STARTED, jobs=paid) == 0
