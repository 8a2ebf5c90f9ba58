"""What KEDA asks for each queue works on the database, and costs no pods while the queue is paused."""

from __future__ import annotations

import re

from app.domain.queues import ALL_QUEUES
from app.services.operations.queues import pause
from tests.conftest import World
from tests.contract.conftest import ROOT

TEMPLATE = (ROOT / "deploy" / "helm" / "fairlane" / "templates" / "workers.yaml").read_text(encoding="utf-8")
[QUERY] = re.findall(r"^ +query: (.+)$", TEMPLATE, re.MULTILINE)


def age(world: World, queue: str) -> float:
    return float(str(world.value(QUERY.replace("{{ $queue }}", queue))))


def test_the_query_of_the_autoscaler_tells_the_age_of_the_oldest_ready_message_unless_the_queue_is_paused(
    world: World,
) -> None:
    world.submit(world.user())
    assert {queue for queue in ALL_QUEUES if age(world, queue) > 0} == {"analysis_default"}
    pause(world.uow, "analysis_default", actor="a test")
    assert age(world, "analysis_default") == 0
