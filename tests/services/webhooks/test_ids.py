"""The ids of the request behind a job: in the line of each attempt, and in the headers of the payer's webhooks only."""

from __future__ import annotations

from structlog.testing import capture_logs

from app import origins
from app.origins import Origin
from app.services.webhooks import log
from app.services.webhooks.deliver import Reply
from tests.services.webhooks.receiving import Hooks

TRACE = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
BAD = Reply(500, "boom", "refused")


def test_the_payer_gets_the_ids_and_who_joined_does_not(hooks: Hooks) -> None:
    world = hooks.world
    payer, joined = world.user(), world.user()
    own, _ = hooks.add(payer)
    others, _ = hooks.add(joined)
    wanted = world.wanted()
    with origins.entered(Origin("order-1", TRACE)):
        job_id = world.submit(payer, wanted)
    with origins.entered(Origin("order-2", TRACE)):
        world.submit(joined, wanted)
    delivery = world.lease(job_id)
    world.start(delivery, payer)
    world.finish(delivery, payer)
    with capture_logs(processors=[origins.add_to_line]) as lines:
        assert (hooks.turn(own.id), hooks.turn(others.id)) == (1, 1)
    first, second = (got.headers for got in hooks.receiver.got)
    assert (first["X-Request-Id"], first["traceparent"]) == ("order-1", TRACE)
    assert not {"X-Request-Id", "traceparent"} & second.keys()
    # the operator's log has them for both
    assert [(line["event"], line["tenant"], line["job_id"], line["request_id"]) for line in lines] == [
        ("webhook_sent", str(payer), str(job_id), "order-1"),
        ("webhook_sent", str(joined), str(job_id), "order-1"),
    ]
    assert {line["trace_id"] for line in lines} == {TRACE[3:35]}
    assert origins.current() is None


def test_a_failed_attempt_is_a_warning_with_its_cause(hooks: Hooks) -> None:
    user = hooks.world.user()
    hook, _ = hooks.add(user)
    delivery = hooks.world.running(user)
    hooks.world.finish(delivery, user)
    hooks.receiver.replies = [BAD]
    with capture_logs() as lines:
        hooks.turn(hook.id)
    [line] = lines
    assert (line["event"], line["log_level"], line["status"], line["fault"]) == (
        "webhook_failed", "warning", 500, "refused",
    )  # fmt: skip
    assert (line["attempt"], line["webhook_id"], line["type"]) == (1, str(hook.id), "analysis.completed")


def test_a_test_has_no_job_and_no_ids(hooks: Hooks) -> None:
    user = hooks.world.user()
    hook, _ = hooks.add(user)
    log.send_test(hooks.world.uow, user, hook.id)
    with capture_logs() as lines:
        hooks.turn(hook.id)
    [line] = lines
    assert "job_id" not in line
    assert not {"X-Request-Id", "traceparent"} & hooks.receiver.got[0].headers.keys()
