"""What `apply_async` and a task's attributes promise, with a real worker."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta, timezone

import pytest
from durable_harness.postgres import PostgresServer
from durable_harness.standing import TASKS, Standing, standing
from durable_harness.versions import REQUEUES_AT_LIMIT, SPREADS_ALL_STARTS, needs_retry_on_worker_lost
from durable_harness.waiting import wait_for
from kombu import Queue

#: So that nothing happens in the first half of a minute because of a poll, or of the end of a lease.
PATIENT = {"BROKER_TEST_OPTIONS": '{"poll_seconds": 60}', "BROKER_TEST_LEASE": "60"}
SOON_SECONDS = 30


@pytest.fixture(scope="module")
def broker(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(server, tmp_path_factory.mktemp("options")) as broker:
        broker.log = broker.worker("-c", "2", "-I", TASKS, **PATIENT)
        yield broker


def runs(broker: Standing, task_id: str, what: str = "ran") -> int:
    return len(broker.told(task_id, what))


# -- when ---------------------------------------------------------------------------------------------------------


@pytest.mark.proof
@pytest.mark.parametrize("zone", [UTC, timezone(timedelta(hours=5, minutes=30)), None], ids=["utc", "+05:30", "naive"])
def test_an_absolute_eta_is_met_and_not_run_ahead_of(broker: Standing, zone: timezone | None) -> None:
    due = datetime.now(UTC) + timedelta(seconds=0.6)
    task_id = broker.send("report", eta=due.astimezone(zone) if zone else due.replace(tzinfo=None))
    broker.is_over(task_id)
    [told] = broker.told(task_id)
    assert 0 <= told["at"] - due.timestamp() < SOON_SECONDS


def test_an_eta_in_the_past_runs_at_once(broker: Standing) -> None:
    task_id = broker.send("report", eta=datetime.now(UTC) - timedelta(days=1))
    broker.is_over(task_id, seconds=SOON_SECONDS)
    assert runs(broker, task_id) == 1


@pytest.mark.proof
def test_a_countdown_counts_from_the_publish(broker: Standing) -> None:
    sent = datetime.now(UTC).timestamp()
    task_id = broker.send("report", countdown=0.6)
    broker.is_over(task_id)
    assert 0.6 <= broker.told(task_id)[0]["at"] - sent < SOON_SECONDS


@pytest.mark.proof
@pytest.mark.parametrize("absolute", [False, True], ids=["seconds", "datetime"])
def test_a_message_that_expired_before_its_start_is_never_run_and_gone(broker: Standing, absolute: bool) -> None:
    soon = datetime.now(UTC) + timedelta(seconds=0.2) if absolute else 0.2
    task_id = broker.send("report", countdown=0.5, expires=soon)
    broker.is_over(task_id)
    assert (broker.told(task_id), broker.dead(task_id)) == ([], [])


def test_a_message_that_expires_later_is_run(broker: Standing) -> None:
    task_id = broker.send("report", expires=60)
    broker.is_over(task_id)
    assert runs(broker, task_id) == 1


def test_a_rate_limit_spreads_the_starts_and_loses_none(broker: Standing) -> None:
    began = datetime.now(UTC).timestamp()
    sent = [broker.send("limited") for _ in range(5)]
    for task_id in sent:
        broker.is_over(task_id)
    starts = sorted(broker.told(task_id)[0]["at"] for task_id in sent)
    assert len(starts) == 5
    assert starts[-1] - began >= (0.4 if SPREADS_ALL_STARTS else 0.3)


# -- what travels -------------------------------------------------------------------------------------------------


def test_headers_of_ones_own_arrive_and_survive_a_retry(broker: Standing) -> None:
    task_id = broker.send("retried", 2, headers={"mine": {"deep": ["ü", 1]}})
    broker.is_over(task_id)
    told = broker.told(task_id)
    assert [one["retries"] for one in told] == [0, 1, 2]
    assert {str(one["mine"]) for one in told} == {"{'deep': ['ü', 1]}"}


def test_a_shadow_name_is_what_the_worker_logs_also_after_a_retry(broker: Standing) -> None:
    task_id = broker.send("retried", 1, shadow="dressed.up")
    broker.is_over(task_id)
    assert [one["shadow"] for one in broker.told(task_id)] == ["dressed.up", "dressed.up"]
    wait_for(lambda: broker.log.text.count(f"Task dressed.up[{task_id}] received") == 2)


def test_a_priority_is_told_to_the_task(broker: Standing) -> None:
    task_id = broker.send("report", priority=7)
    broker.is_over(task_id)
    assert broker.told(task_id)[0]["priority"] == 7


def test_a_priority_overtakes_inside_of_a_queue_however_that_is_declared(broker: Standing) -> None:
    for priority in (0, 9):
        broker.send("report", priority=priority, queue="ranks", task_id=f"rank{priority}")
    declared = Queue("ranks", max_priority=5)  # RabbitMQ needs it, and would take 9 for 5
    with broker.kombu().SimpleQueue(declared, no_ack=True) as queue:
        assert [queue.get(timeout=60).headers["id"] for _ in range(2)] == ["rank9", "rank0"]


def test_a_retry_has_the_priority_of_its_task(broker: Standing) -> None:
    task_id = broker.send("retried", 2, priority=7)
    broker.is_over(task_id)
    assert [one["priority"] for one in broker.told(task_id)] == [7] * 3


# -- once or again ------------------------------------------------------------------------------------------------


def test_a_task_id_is_one_message_while_it_waits_and_a_new_one_when_it_is_over(broker: Standing) -> None:
    for _ in range(3):
        broker.send("report", countdown=3600, task_id="twice")
    assert broker.value("SELECT count(*) FROM kombu_message WHERE task_id = 'twice'") == 1
    broker.query("UPDATE kombu_message SET visible_at = now() WHERE task_id = 'twice'")
    broker.query("SELECT pg_notify(broker_channel(), E'main\\t0')")  # as a publish of one that is due so soon
    broker.is_over("twice")
    assert runs(broker, "twice") == 1
    broker.send("report", task_id="twice")
    broker.is_over("twice")
    assert runs(broker, "twice") == 2


@pytest.mark.proof
def test_a_task_that_may_retry_twice_runs_three_times_and_has_failed_then(broker: Standing) -> None:
    task_id = broker.send("retried", 99)
    broker.is_over(task_id)
    assert [one["retries"] for one in broker.told(task_id)] == [0, 1, 2]
    assert broker.dead(task_id) == []
    wait_for(lambda: f"[{task_id}] raised unexpected: KeyError('worn out')" in broker.log.text)


@pytest.mark.proof
def test_an_automatic_retry_waits_its_backoff_in_the_table(broker: Standing) -> None:
    task_id = broker.send("autoretried")
    wait_for(lambda: broker.value("SELECT count(*) FROM kombu_message WHERE delay_reason = 'retry'"))
    due = broker.value("SELECT visible_at FROM kombu_message WHERE task_id = %s", task_id)
    broker.is_over(task_id)
    starts = [at for (at,) in broker.query("SELECT at FROM told WHERE task_id = %s ORDER BY id", task_id)]
    assert len(starts) == 2
    assert (starts[1] - starts[0]).total_seconds() > 0.9
    assert starts[1] >= due


def test_a_retry_that_replaces_its_headers_keeps_its_lease(broker: Standing) -> None:
    task_id = broker.send("retried", 1, kwargs={"headers": {"mine": "new"}})
    broker.is_over(task_id)
    assert [(one["retries"], one["mine"]) for one in broker.told(task_id)] == [(0, None), (1, "new")]


def test_a_task_that_hands_its_headers_on_does_not_hand_its_lease_on(broker: Standing) -> None:
    task_id = broker.send("hands_its_headers_on", "handed", headers={"mine": 1})
    broker.is_over(task_id)
    wait_for(lambda: broker.told("handed"))
    [told], [mine] = broker.told("handed"), broker.told(task_id)
    assert (told["args"], told["mine"], told["deliveries"]) == (["handed on"], 1, 1)
    assert told["token"] != mine["token"]


# -- how a delivery ends ------------------------------------------------------------------------------------------


def test_ignore_ends_the_message(broker: Standing) -> None:
    task_id = broker.send("ignores")
    broker.is_over(task_id)
    assert (runs(broker, task_id), broker.dead(task_id)) == (1, [])


def test_a_reject_is_a_dead_letter(broker: Standing) -> None:
    task_id = broker.send("rejects", kwargs={"requeue": False})
    broker.is_over(task_id)
    assert (runs(broker, task_id), broker.dead(task_id)) == (1, ["rejected"])


def test_a_reject_with_requeue_runs_again_until_it_does_not_reject(broker: Standing) -> None:
    task_id = broker.send("rejects", kwargs={"requeue": True})
    broker.is_over(task_id)
    assert [one["deliveries"] for one in broker.told(task_id)] == [1, 2, 3]
    assert broker.dead(task_id) == []


@pytest.mark.parametrize(("name", "reasons"), [("fails", []), ("fails_unacknowledged", ["rejected"])])
def test_a_failure_is_acknowledged_unless_the_task_says_no(broker: Standing, name: str, reasons: list[str]) -> None:
    task_id = broker.send(name)
    broker.is_over(task_id)
    assert (runs(broker, task_id), broker.dead(task_id)) == (1, reasons)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("dies_and_comes_back", [(0, 1), (0, 2)]),
        ("dies_for_good", [(0, 1)]),
        pytest.param("dies_and_is_retried", [(0, 1), (1, 2)], marks=needs_retry_on_worker_lost),
    ],
)
def test_what_becomes_of_a_killed_child_s_task_is_the_task_s_choice(
    broker: Standing, name: str, expected: list[tuple[int, int]]
) -> None:
    task_id = broker.send(name)
    broker.is_over(task_id)
    assert [(one["retries"], one["deliveries"]) for one in broker.told(task_id)] == expected
    assert broker.dead(task_id) == []


def test_a_killed_child_s_task_runs_again_before_its_lease_ends(broker: Standing) -> None:
    task_id = broker.send("dies_and_comes_back")
    broker.is_over(task_id)
    first, again = broker.query("SELECT at FROM told WHERE task_id = %s ORDER BY id", task_id)
    assert (again[0] - first[0]).total_seconds() < SOON_SECONDS


def test_a_soft_limit_is_raised_in_the_task(broker: Standing) -> None:
    task_id = broker.send("minds_the_limit", soft_time_limit=5)
    broker.is_over(task_id)
    assert runs(broker, task_id, "told to stop") == 1


@pytest.mark.proof
@pytest.mark.parametrize(
    ("name", "runs", "reasons"),
    [
        ("stuck", 1, []),
        ("stuck_unacknowledged", 2, []) if REQUEUES_AT_LIMIT else ("stuck_unacknowledged", 1, ["rejected"]),
    ],
)
def test_a_hard_limit_kills_and_acknowledges_unless_the_task_says_no(
    broker: Standing, name: str, runs: int, reasons: list[str]
) -> None:
    task_id = broker.send(name, time_limit=6)
    broker.is_over(task_id)
    assert [one["deliveries"] for one in broker.told(task_id)] == list(range(1, runs + 1))
    assert broker.dead(task_id) == reasons


def test_a_linked_task_runs_with_the_result_and_a_link_error_with_the_failure(broker: Standing) -> None:
    link = broker.app.signature(f"{TASKS}.report", app=broker.app)
    broker.is_over(broker.send("report", "gift", link=link.clone(kwargs={"for": "good"})))
    failed = broker.send("fails", link_error=link.clone(kwargs={"for": "bad"}))
    said = "SELECT facts->'args' FROM told WHERE facts->'kwargs'->>'for' = %s"
    wait_for(lambda: broker.query(said, "bad") and broker.query(said, "good"))
    assert (broker.query(said, "good"), broker.query(said, "bad")) == ([(["gift"],)], [([failed],)])


@pytest.mark.proof
@pytest.mark.parametrize("seconds", [0, 1.5])
@pytest.mark.parametrize("how", ["retry", "replace"])
def test_a_task_that_is_acknowledged_early_may_retry_and_be_replaced(
    broker: Standing, how: str, seconds: float
) -> None:
    for task_id in [broker.send("early_again", how, seconds) for _ in range(3)]:
        wait_for(lambda task_id=task_id: runs(broker, task_id) == 2)
        broker.is_over(task_id)


def test_an_early_acknowledgement_deletes_at_the_start_and_a_kill_loses_the_task(broker: Standing) -> None:
    doomed = broker.worker("-c", "2", "-I", TASKS, "-Q", "doomed")
    early, late = (broker.send(name, 20, queue="doomed") for name in ("early", "sleeps"))
    wait_for(lambda: broker.told(early) and broker.told(late) and not broker.waits(early))
    doomed.kill_tree()
    assert (broker.waits(early), broker.waits(late)) == (False, True)
