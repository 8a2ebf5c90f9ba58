"""What a webhook is told, when, and how often."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from sqlalchemy import text

from app.domain.lifecycle import Failure
from app.domain.plans import Tier
from app.domain.webhooks import DELAYS, PATIENCE, TEST
from app.services.jobs.cancel import cancel
from app.services.webhooks import log, webhooks
from app.services.webhooks.deliver import EXCERPT, Reply
from app.services.webhooks.dispatch import QUEUE, dispatch
from app.services.webhooks.webhooks import Where
from app.store.webhooks.webhook_deliveries import TESTS_KEPT
from tests.conftest import World
from tests.services.busy import account
from tests.services.specifications.writing import Writing
from tests.services.webhooks.receiving import KEYRING, Hooks, verified

BAD = Reply(500, "boom", "refused")
MESSAGES = "SELECT q.name, m.user_id FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id"


def completed(hooks: Hooks, user) -> str:
    delivery = hooks.world.running(user)
    hooks.world.finish(delivery, user)
    return str(delivery.job_id)


def test_each_end_of_a_job_is_told_once_to_those_who_asked_for_it(hooks: Hooks) -> None:
    world = hooks.world
    ann, bob, eve = world.user(Tier.PRO), world.user(), world.user()
    hook, secret = hooks.add(ann)
    other, _ = hooks.add(bob, "analysis.completed")
    hooks.add(eve)
    wanted = world.wanted()
    delivery = world.running(ann, wanted)
    world.submit(bob, wanted)
    world.finish(delivery, ann)
    failing = world.running(ann)
    world.fail(failing, ann, Failure("too_large", "The repository is larger than 2 GB.", retryable=False))
    cancelled = world.submit(ann)
    cancel(world.uow, cancelled, account(world, ann), world.policy, now=world.now)
    assert (hooks.turn(hook.id), hooks.turn(other.id)) == (3, 1)
    assert hooks.turn(hook.id) == hooks.turn(other.id) == 0
    assert [(got.event["type"], got.event["data"]["id"]) for got in hooks.receiver.got] == [
        ("analysis.completed", str(delivery.job_id)),
        ("analysis.failed", str(failing.job_id)),
        ("analysis.cancelled", str(cancelled)),
        ("analysis.completed", str(delivery.job_id)),
    ]
    assert all(verified(got.headers, got.body, secret) for got in hooks.receiver.got[:3])
    assert len({got.headers["webhook-id"] for got in hooks.receiver.got}) == 4
    assert {row["status"] for row in hooks.rows()} == {"delivered"}


def test_an_event_says_what_ended_and_how(hooks: Hooks) -> None:
    world, user = hooks.world, hooks.world.user()
    hook, _ = hooks.add(user)
    wanted = world.wanted()
    delivery = world.running(user, wanted)
    world.finish(delivery, user)
    failing = world.running(user)
    world.fail(failing, user, Failure("too_large", "The repository is larger than 2 GB.", retryable=False))
    hooks.turn(hook.id)
    first, second = (got.event for got in hooks.receiver.got)
    assert first["timestamp"].endswith("Z")
    assert (first["data"]["status"], first["data"]["commit"]) == ("completed", wanted.commit)
    assert first["data"]["repository"]["name"] == "shop"
    assert first["data"]["summary"]["tests"] == 1
    assert first["data"]["links"]["page"] == f"https://fairlane.test/analyses/{delivery.job_id}"
    assert (first["data"]["error"], second["data"]["summary"]) == (None, None)
    assert second["data"]["error"] == {
        "code": "too_large", "message": "The repository is larger than 2 GB.", "retryable": False,
    }  # fmt: skip


def test_the_end_of_a_specification_is_told(world: World) -> None:
    hooks, writing = Hooks(world), Writing(world)
    user = world.user(Tier.PRO)
    analysis = writing.analysed(user)
    hook, _ = hooks.add(user, "specification.completed")
    job_id = writing.submit(user, analysis)
    writing.write(writing.started(user, job_id), user)
    assert hooks.turn(hook.id) == 1
    [got] = hooks.receiver.got
    assert (got.event["type"], got.event["data"]["id"]) == ("specification.completed", str(job_id))
    assert got.event["data"]["links"]["self"] == f"https://fairlane.test/api/v1/specs/{job_id}"


def test_nothing_is_told_of_who_pays_and_how_much(hooks: Hooks) -> None:
    user = hooks.world.user(email="ann@example.org")
    hook, _ = hooks.add(user)
    completed(hooks, user)
    hooks.turn(hook.id)
    [got] = hooks.receiver.got
    assert set(got.event) == {"type", "timestamp", "data"}
    assert set(got.event["data"]) == {
        "id", "service", "status", "repository", "commit", "ref", "summary", "error", "links",
    }  # fmt: skip
    assert str(user) not in got.body.decode()
    assert "ann@example.org" not in got.body.decode()


def test_who_has_left_a_job_is_told_nothing_of_it(hooks: Hooks) -> None:
    world = hooks.world
    ann, bob = world.user(), world.user()
    hooks.add(ann)
    other, _ = hooks.add(bob)
    wanted = world.wanted()
    job = world.submit(ann, wanted)
    world.submit(bob, wanted)
    cancel(world.uow, job, account(world, ann), world.policy, now=world.now)
    delivery = world.lease(job)
    world.start(delivery, ann)
    world.finish(delivery, ann)
    assert [row["webhook_id"] for row in hooks.rows("webhook_id")] == [other.id]


def test_a_failed_attempt_is_repeated_with_the_same_id_and_body_until_the_delays_are_over(hooks: Hooks) -> None:
    user = hooks.world.user()
    hook, secret = hooks.add(user)
    completed(hooks, user)
    hooks.receiver.replies = [BAD]
    for attempt, delay in enumerate(DELAYS, 1):
        assert hooks.turn(hook.id) == 1
        hooks.rest()
        assert hooks.turn(hook.id) == 0
        [row] = hooks.rows("attempts, status, due_at - attempted_at AS delay, answer, status_code, fault")
        assert (row["attempts"], row["status"], row["delay"]) == (attempt, "pending", delay)
        assert (row["answer"], row["status_code"], row["fault"]) == ("boom", 500, "refused")
        hooks.come_due()
    assert hooks.turn(hook.id) == 1
    assert hooks.rows("status, attempts, due_at") == [{"status": "failed", "attempts": len(DELAYS) + 1, "due_at": None}]
    assert len({(got.headers["webhook-id"], got.body) for got in hooks.receiver.got}) == 1
    assert all(verified(got.headers, got.body, secret) for got in hooks.receiver.got)
    assert sum(DELAYS, timedelta()) >= timedelta(days=1)


def test_jitter_only_lengthens_a_delay() -> None:
    from app.domain.webhooks import backoff

    for attempts, delay in enumerate(DELAYS, 1):
        assert backoff(attempts, 0.0) == delay
        assert delay < (backoff(attempts, 0.999) or timedelta()) < delay * 1.2
    assert backoff(len(DELAYS) + 1, 0.0) is None


def test_a_failing_webhook_rests_ever_longer_and_a_success_ends_it(hooks: Hooks) -> None:
    user = hooks.world.user(Tier.ENTERPRISE)
    hook, _ = hooks.add(user)
    for _ in range(5):
        completed(hooks, user)
    hooks.receiver.replies = [BAD, BAD, BAD, BAD, Reply(200)]
    rests = []
    for _ in range(4):
        assert hooks.turn(hook.id) == 1  # one attempt, although five are due
        rests.append(
            hooks.world.value(
                "SELECT round(extract(epoch FROM w.paused_until - d.attempted_at)) FROM webhooks w"
                " JOIN webhook_deliveries d ON d.webhook_id = w.id ORDER BY d.attempted_at DESC NULLS LAST LIMIT 1"
            )
        )
        hooks.world.rows("UPDATE webhooks SET paused_until = NULL RETURNING id")
    assert rests == [5, 20, 80, 300]
    hooks.come_due()
    assert hooks.turn(hook.id) == 5
    assert hooks.world.rows("SELECT failures, failing_since, paused_until FROM webhooks") == [
        {"failures": 0, "failing_since": None, "paused_until": None}
    ]


def test_410_disables_a_webhook_until_its_owner_enables_it(hooks: Hooks) -> None:
    user = hooks.world.user(Tier.ENTERPRISE)
    hook, _ = hooks.add(user)
    completed(hooks, user)
    hooks.receiver.replies = [Reply(410, "", "refused"), Reply(200)]
    hooks.turn(hook.id)
    now = hooks.world.uow.now()
    found = webhooks.find(hooks.world.uow, user, hook.id, now=now)
    assert (found.enabled, found.disabled_because) == (False, "gone")
    completed(hooks, user)
    hooks.come_due()
    assert hooks.turn(hook.id) == 0
    assert len(hooks.rows()) == 1  # a disabled webhook is told nothing new
    enabled = webhooks.change(hooks.world.uow, user, hook.id, Where(), enabled=True, now=now)
    assert (enabled.enabled, enabled.failures) == (True, 0)
    assert hooks.turn(hook.id) == 1


def test_a_webhook_that_fails_for_days_is_disabled(hooks: Hooks) -> None:
    user = hooks.world.user()
    hook, _ = hooks.add(user)
    completed(hooks, user)
    hooks.receiver.replies = [BAD]
    hooks.turn(hook.id)
    days = "UPDATE webhooks SET failing_since = clock_timestamp() - CAST(:age AS interval) RETURNING id"
    for age, because in ((PATIENCE - timedelta(minutes=1), None), (PATIENCE + timedelta(minutes=1), "failing")):
        hooks.world.rows(days, age=age)
        hooks.come_due()
        assert hooks.turn(hook.id) == 1
        assert hooks.world.value("SELECT disabled_because FROM webhooks") == because


def test_after_a_rotation_both_secrets_sign_for_a_day(hooks: Hooks) -> None:
    user = hooks.world.user(Tier.ENTERPRISE)
    hook, old = hooks.add(user)
    new = webhooks.rotate(hooks.world.uow, user, hook.id, KEYRING, now=hooks.world.uow.now())
    completed(hooks, user)
    hooks.turn(hook.id)
    [got] = hooks.receiver.got
    assert len(got.headers["webhook-signature"].split(" ")) == 2
    assert verified(got.headers, got.body, old)
    assert verified(got.headers, got.body, new)
    hooks.world.rows("UPDATE webhooks SET old_secret_until = clock_timestamp() RETURNING id")
    completed(hooks, user)
    hooks.turn(hook.id)
    assert not verified(hooks.receiver.got[1].headers, hooks.receiver.got[1].body, old)
    assert verified(hooks.receiver.got[1].headers, hooks.receiver.got[1].body, new)


def test_a_secret_that_cannot_be_read_is_a_fault_and_sends_nothing(hooks: Hooks) -> None:
    user = hooks.world.user()
    hook, secret = hooks.add(user)
    completed(hooks, user)
    sealed = hooks.world.value("SELECT secret FROM webhooks")
    assert isinstance(sealed, bytes | memoryview)
    assert secret.removeprefix("whsec_").encode() not in bytes(sealed)
    hooks.world.rows("UPDATE webhooks SET secret = '\\x0011223344556677889900112233445566' RETURNING id")
    hooks.turn(hook.id)
    assert hooks.receiver.got == []
    assert hooks.rows("fault, status") == [{"fault": "secret_unreadable", "status": "pending"}]


def test_a_late_worker_records_nothing(hooks: Hooks) -> None:
    user = hooks.world.user()
    hook, _ = hooks.add(user)
    completed(hooks, user)
    inner = hooks.receiver.post

    def overtaken(*_: object) -> Reply:
        hooks.receiver.post = inner  # type: ignore[method-assign]
        assert hooks.turn(hook.id) == 1  # another worker is faster
        return BAD

    hooks.receiver.post = overtaken  # type: ignore[method-assign]
    hooks.turn(hook.id)
    assert hooks.rows() == [
        {"type": "analysis.completed", "status": "delivered", "attempts": 1, "status_code": 204, "fault": None}
    ]
    assert hooks.world.value("SELECT failures FROM webhooks") == 0


def test_a_turn_is_a_message_without_a_user_on_a_queue_without_jobs(hooks: Hooks) -> None:
    world, user = hooks.world, hooks.world.user()
    hook, _ = hooks.add(user)
    completed(hooks, user)
    usage = world.rows("SELECT * FROM usage_events")
    assert dispatch(world.uow) == 1
    assert dispatch(world.uow) == 0  # its turn waits for a worker
    assert world.rows(MESSAGES) == [{"name": QUEUE, "user_id": None}]
    assert QUEUE == "specview_scheduled"
    assert hooks.turn(hook.id) == 1
    assert world.rows("SELECT * FROM execution_slots") == []
    assert world.rows("SELECT * FROM quota_reservations") == []
    assert world.rows("SELECT * FROM usage_events") == usage


def test_a_webhook_that_rests_or_is_disabled_gets_no_turn(hooks: Hooks) -> None:
    world, user = hooks.world, hooks.world.user()
    hook, _ = hooks.add(user)
    completed(hooks, user)
    world.rows("UPDATE webhooks SET paused_until = clock_timestamp() + interval '1 min' RETURNING id")
    assert dispatch(world.uow) == 0
    webhooks.change(world.uow, user, hook.id, Where(), enabled=False, now=world.uow.now())
    hooks.come_due()
    assert dispatch(world.uow) == 0
    webhooks.change(world.uow, user, hook.id, Where(), enabled=True, now=world.uow.now())
    assert dispatch(world.uow) == 1


def test_an_event_of_a_job_that_is_gone_is_given_up(hooks: Hooks) -> None:
    user = hooks.world.user()
    hook, _ = hooks.add(user)
    completed(hooks, user)
    with hooks.world.uow.begin() as tx:
        tx.run(text("DELETE FROM analysis_requests"))
    assert hooks.turn(hook.id) == 0
    assert hooks.rows("status, fault") == [{"status": "failed", "fault": "job_deleted"}]


@pytest.mark.parametrize("answer", ["x" * 5000, "a\x00b", "é" * 3000])
def test_the_log_keeps_the_beginning_of_an_answer(hooks: Hooks, answer: str) -> None:
    user = hooks.world.user()
    hook, _ = hooks.add(user)
    completed(hooks, user)
    hooks.receiver.replies = [Reply(200, answer)]
    hooks.turn(hook.id)
    [kept], following = log.deliveries(hooks.world.uow, user, hook.id, before=None, limit=10)
    assert kept.answer is not None
    assert EXCERPT - 2 < len(kept.answer.encode()) <= EXCERPT or kept.answer == answer.replace("\x00", " ")
    assert answer.replace("\x00", " ").startswith(kept.answer)
    assert following is None
    assert kept.body is not None
    assert json.loads(kept.body)["type"] == "analysis.completed"


def test_a_replay_and_a_test_are_sent_at_once(hooks: Hooks) -> None:
    world, user = hooks.world, hooks.world.user()
    hook, secret = hooks.add(user)
    completed(hooks, user)
    hooks.turn(hook.id)
    [told] = hooks.receiver.got
    [logged], _ = log.deliveries(world.uow, user, hook.id, before=None, limit=10)
    again = log.replay(world.uow, user, hook.id, logged.id)
    assert (again.status, again.message_id) == ("pending", logged.message_id)
    sent = log.send_test(world.uow, user, hook.id)
    assert sent.type == "webhook.test"
    assert len(world.rows(MESSAGES)) == 1
    assert hooks.turn(hook.id) == 2
    _, replayed, test = hooks.receiver.got
    assert (replayed.headers["webhook-id"], replayed.body) == (told.headers["webhook-id"], told.body)
    assert test.event["type"] == "webhook.test"
    assert verified(test.headers, test.body, secret)


def test_a_replay_and_a_test_do_not_end_a_rest_that_failures_earned(hooks: Hooks) -> None:
    world, user = hooks.world, hooks.world.user()
    hook, _ = hooks.add(user)
    completed(hooks, user)
    hooks.receiver.replies = [BAD, Reply(204)]
    hooks.turn(hook.id)
    hooks.rest()
    rest = world.value("SELECT paused_until FROM webhooks")
    [logged], _ = log.deliveries(world.uow, user, hook.id, before=None, limit=10)
    for sent in (log.replay(world.uow, user, hook.id, logged.id), log.send_test(world.uow, user, hook.id)):
        assert sent.next_attempt_at == rest  # which the answer and the log show
    assert world.value("SELECT paused_until FROM webhooks") == rest
    assert hooks.turn(hook.id) == 0
    hooks.come_due()
    assert hooks.turn(hook.id) == 2


def test_the_log_keeps_few_tests(hooks: Hooks, world: World) -> None:
    user = world.user()
    hook, _ = hooks.add(user)
    completed(hooks, user)
    for _ in range(TESTS_KEPT + 5):
        log.send_test(world.uow, user, hook.id)
        hooks.turn(hook.id)
    kinds = [row["type"] for row in world.rows("SELECT type FROM webhook_deliveries")]
    assert (kinds.count(TEST), len(kinds)) == (TESTS_KEPT + 1, TESTS_KEPT + 2)


def test_a_webhook_that_is_disabled_and_enabled_keeps_the_rest_that_its_failures_earned(
    hooks: Hooks, world: World
) -> None:
    user = world.user()
    hook, _ = hooks.add(user)
    hooks.receiver.replies = [BAD] * 3
    log.send_test(world.uow, user, hook.id)
    hooks.turn(hook.id)
    rest = world.value("SELECT paused_until FROM webhooks")
    assert rest is not None
    for enabled in (False, True):
        webhooks.change(world.uow, user, hook.id, Where(), enabled=enabled, now=world.uow.now())
    assert world.value("SELECT paused_until FROM webhooks") == rest
