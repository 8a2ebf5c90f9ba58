"""The countdown of a snooze alone brings every job to its end: the wake makes it quick, and is not needed."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.jobs import read_jobs
from app.services.operations.audit import HOLDS, audit
from tests.e2e.conftest import System
from tests.e2e.fire import start

pytestmark = pytest.mark.proof

NO_WAKE = """
    CREATE OR REPLACE FUNCTION wake_user(who text, service text, most integer, step integer) RETURNS SETOF uuid
    LANGUAGE sql AS 'SELECT CAST(NULL AS uuid) WHERE false'"""
JOBS = 6


def test_without_any_wake_every_job_of_a_user_at_the_limit_runs_in_its_turn(system: System) -> None:
    world = system.world
    with world.uow.begin() as tx:
        tx.run(text(NO_WAKE))
    user = world.user(Tier.FREE)
    jobs = [world.submit(user, world.wanted("slow")) for _ in range(JOBS)]
    begun = datetime.now(UTC)
    start(system.nodes, "node", 2, {"FAIRNESS_SNOOZE_DURATION": "1s", "FAIRNESS_SNOOZE_JITTER": "0"}).ready()
    wait_for(lambda: world.rows("SELECT 1 FROM job_events WHERE event = 'snoozed'"), "one to meet the limit")
    system.go_on()
    wait_for(lambda: world.value("SELECT count(*) FROM kombu_message") == 0, "every job to end", seconds=120)
    timelines = [[row.event for row in read_jobs.timeline(world.uow, job_id, None)] for job_id in jobs]
    assert all(events[-1] == "completed" and "woken" not in events for events in timelines)
    assert sum(events.count("snoozed") for events in timelines) > 0
    assert [finding for finding in audit(world.uow, since=begun) if finding.status != HOLDS] == []
