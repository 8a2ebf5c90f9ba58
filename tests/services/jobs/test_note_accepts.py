"""The request behind a job: in the line of its accept, in its message, and in its event, which others are not shown."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any
from uuid import UUID

import pytest
from structlog.testing import capture_logs

from app import origins
from app.errors import QuotaExceeded
from app.origins import Origin
from app.services.accounts.forget import forget
from app.services.analyses.reschedule import reschedule
from app.services.analyses.submit_batch import submit_batch
from app.services.jobs import read_jobs
from app.services.operations.dead_letters import Chosen, redrive
from tests.conftest import NOW, World
from tests.services.busy import account
from tests.services.operations.test_dead_letters import buried

ORIGIN = Origin("order-1", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
IDS = {"request_id": "order-1", "traceparent": ORIGIN.traceparent}


@pytest.fixture(autouse=True)
def of_a_request() -> Iterator[None]:
    with origins.entered(ORIGIN):
        yield


def accepts(lines: list[Any]) -> list[dict[str, Any]]:
    return [line for line in lines if line["event"] == "accepted"]


def headers(world: World, job_id: UUID) -> dict[str, Any]:
    """Headers of the message that carries a job."""
    payload = world.value("SELECT payload FROM kombu_message WHERE task_id = :id", id=str(job_id))
    found: dict[str, Any] = json.loads(str(payload))["headers"]
    return found


def test_an_accept_has_a_line_with_what_was_accepted_for_whom(world: World) -> None:
    user = world.user()
    with capture_logs() as lines:
        job_id = world.submit(user)
        world.submit(user, world.wanted())
    [first, second] = accepts(lines)
    first.pop("timestamp")
    assert first == {
        "event": "accepted", "log_level": "info", "job_id": str(job_id), "tenant": str(user), "tier": "free",
        "queue": "analysis_default", "units": 1, "repository": "github.com/acme/shop",
    }  # fmt: skip
    assert second["job_id"] != str(job_id)


def test_what_is_not_committed_has_no_line(world: World) -> None:
    user = world.user(analyses=1)
    with capture_logs() as lines, pytest.raises(QuotaExceeded):
        submit_batch(world.uow, user, [world.wanted(), world.wanted()], world.policy, atomic=True, now=NOW)
    assert accepts(lines) == []
    with capture_logs() as lines:
        submit_batch(world.uow, user, [world.wanted(), world.wanted()], world.policy, atomic=False, now=NOW)
    assert len(accepts(lines)) == 1


def test_a_job_that_is_joined_is_not_accepted_again(world: World) -> None:
    wanted = world.wanted()
    with capture_logs() as lines:
        assert world.submit(world.user(), wanted) == world.submit(world.user(), wanted)
    assert len(accepts(lines)) == 1


def test_the_ids_stay_with_the_message_in_whatever_it_meets(world: World) -> None:
    user = world.user()
    job_id = world.submit(user)
    assert IDS.items() <= headers(world, job_id).items()
    world.start(world.lease(job_id), user)
    world.lose(job_id)
    assert IDS.items() <= headers(world, job_id).items()
    letter = buried(world, job_id)
    assert redrive(world.uow, Chosen((letter,)), actor="cli").done == [letter]
    assert IDS.items() <= headers(world, job_id).items()


def test_the_event_keeps_the_ids_until_the_account_goes_and_shows_them_to_nobody(world: World) -> None:
    user, wanted = world.user(), world.wanted()
    delivery = world.running(user, wanted)
    world.submit(world.user(), wanted)  # whoever joined keeps the job
    world.finish(delivery, user)
    facts = "SELECT facts FROM job_events WHERE event = 'accepted'"
    assert IDS.items() <= world.rows(facts)[0]["facts"].items()  # type: ignore[union-attr]
    shown = read_jobs.timeline(world.uow, delivery.job_id, account(world, user))
    assert [event.event for event in shown] == ["accepted", "started", "joined", "completed"]
    assert all(not event.facts.keys() & IDS.keys() for event in shown)
    forget(world.uow, user, actor="test", now=NOW)
    assert [row["facts"].keys() & IDS.keys() for row in world.rows(facts)] == [set()]  # type: ignore[union-attr]


def test_a_job_of_the_schedule_has_the_trace_of_its_run_and_no_tenant(world: World) -> None:
    world.submit(world.user(), world.wanted("garden"))  # viewed, and never analysed
    run = Origin.of_message(None, None)
    with capture_logs() as lines, origins.entered(run):
        assert reschedule(world.uow, lambda _: ("c" * 40, "main"), world.policy, now=NOW).enqueued == 1
    [line] = accepts(lines)
    assert (line["units"], line["queue"]) == (0, "analysis_scheduled")
    assert not {"tenant", "tier"} & line.keys()
    found = headers(world, UUID(line["job_id"]))
    assert (found["traceparent"], found.get("request_id")) == (run.traceparent, None)


def test_an_accept_without_a_request_has_no_ids(world: World) -> None:
    origins.enter(None)
    assert not headers(world, world.submit(world.user())).keys() & IDS.keys()
