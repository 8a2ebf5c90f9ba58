"""Celery's canvas over the broker, with results in the same database."""

from collections.abc import Iterator
from typing import Any

import pytest
from celery import chain, chord, group
from celery.canvas import Signature, chunks, xmap, xstarmap
from celery.result import AsyncResult
from durable_harness.postgres import PostgresServer
from durable_harness.standing import TASKS, Standing, standing
from durable_harness.waiting import wait_for


@pytest.fixture(scope="module")
def broker(server: PostgresServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Standing]:
    with standing(server, tmp_path_factory.mktemp("canvas")) as broker:
        results = broker.url.replace("postgresql:", "db+postgresql+psycopg2:")
        broker.app.conf.update(result_backend=results, task_ignore_result=False)
        broker.worker("-c", "2", "-I", TASKS, CELERY_RESULT_BACKEND=results)
        yield broker


@pytest.fixture
def task(broker: Standing) -> Any:
    """A signature by name, as who has no code of the tasks writes it."""

    def sign(name: str, *args: Any, **options: Any) -> Signature:
        immutable = options.pop("immutable", False)
        return broker.app.signature(f"{TASKS}.{name}", args=args, options=options, immutable=immutable)

    return sign


def value(result: Any) -> Any:
    return result.get(timeout=60, interval=0.02)


def test_a_chain_hands_results_on(broker: Standing, task: Any) -> None:
    assert value(chain(task("add", 1, 2), task("add", 3), task("add", 4))()) == 10


def test_a_link_that_breaks_ends_the_chain_and_calls_its_error_task(broker: Standing, task: Any) -> None:
    last = task("add", 1, task_id="never reached")
    result = chain(task("add", 1), task("breaks"), last).apply_async(link_error=task("report", task_id="told of it"))
    with pytest.raises(ValueError, match="broken link"):
        value(result.parent)
    wait_for(lambda: broker.told("told of it"))
    assert broker.told("told of it")[0]["args"] == [result.parent.id]
    assert broker.told("never reached") == []


def test_a_retry_inside_of_a_chain_goes_on_with_the_chain(broker: Standing, task: Any) -> None:
    result = chain(task("add", 1), task("retried_add", 2), task("add", 4))()
    assert value(result) == 7
    assert len(broker.told(result.parent.id)) == 2
    assert len(broker.told(result.id)) == 1


def test_immutable_links_take_no_result_in_nested_chains(broker: Standing, task: Any) -> None:
    inner = chain(task("add", 5, 5, immutable=True), task("add", 1))
    result = chain(task("add", 100), inner, task("add", 7, immutable=True), chain(task("add", 1), task("add", 2)))()
    assert value(result) == 10
    assert value(result.parent.parent.parent) == 11


@pytest.mark.proof
def test_a_group_runs_all_of_its_tasks(broker: Standing, task: Any) -> None:
    assert value(group(task("add", number, 1) for number in range(20))()) == list(range(1, 21))


def test_a_chord_s_body_gets_every_result_once(broker: Standing, task: Any) -> None:
    result = chord((task("add", number) for number in range(10)), task("total"))()
    assert value(result) == 45
    assert len(broker.told(result.id)) == 1


def test_a_chord_whose_header_breaks_fails_and_does_not_run_its_body(broker: Standing, task: Any) -> None:
    result = chord([task("add", 1), task("breaks")], task("total"))()
    with pytest.raises(Exception, match="broken link"):
        value(result)
    assert broker.told(result.id) == []


@pytest.mark.proof
def test_a_chord_in_a_chain_is_passed_through(broker: Standing, task: Any) -> None:
    result = chain(task("add", 1), group(task("add", 1), task("add", 2)), task("total"), task("add", 10))()
    assert value(result) == 15


@pytest.mark.proof
def test_a_waiting_chord_is_one_message_that_is_retried_in_place(broker: Standing, task: Any) -> None:
    chord([task("add", 1), task("add", 2, countdown=3600)], task("total"))()
    waits = 'SELECT retry_count FROM kombu_message WHERE payload LIKE \'%%"task":"celery.chord_unlock"%%\''
    wait_for(lambda: (broker.query(waits) or [(0,)])[0][0] >= 1)
    assert len(broker.query(waits)) == 1
    broker.query("UPDATE kombu_message SET visible_at = now() WHERE delay_reason = 'eta'")
    wait_for(lambda: not broker.query(waits))


@pytest.mark.parametrize(("spread", "expected"), [(xmap, [3, 7]), (xstarmap, [10, 100])], ids=["map", "starmap"])
def test_maps_run_in_one_task(broker: Standing, task: Any, spread: Any, expected: list[int]) -> None:
    arguments = [[1, 2], [3, 4]] if spread is xmap else [(1, 9), (1, 99)]
    name = "total" if spread is xmap else "add"
    assert value(spread(task(name), arguments, app=broker.app).apply_async()) == expected


def test_chunks_are_a_few_messages_with_many_calls(broker: Standing, task: Any) -> None:
    pairs = [(number, 1) for number in range(10)]
    result = chunks(task("add"), pairs, 5, app=broker.app).apply_async()
    assert value(result) == [[1, 2, 3, 4, 5], [6, 7, 8, 9, 10]]
    assert len(result) == 2


@pytest.mark.proof
@pytest.mark.parametrize("how", ["one", "chain", "chord"])
def test_a_task_that_is_replaced_is_run_under_its_id(broker: Standing, task: Any, how: str) -> None:
    results = [task("replaced", how).apply_async() for _ in range(5)]
    assert [value(result) for result in results] == [3] * 5
    for result in results:
        broker.is_over(result.id)


def test_the_end_of_a_replacing_chain_is_kept_though_the_replaced_task_is_not_acknowledged_yet(
    broker: Standing,
) -> None:
    broker.send("report", queue="nobody", task_id="replaced")
    broker.query(
        "UPDATE kombu_message SET visible = false, visible_at = now() + interval '1 h', lease_token = gen_random_uuid()"
        " WHERE task_id = 'replaced'"
    )
    token = broker.value("SELECT lease_token::text FROM kombu_message WHERE task_id = 'replaced'")
    broker.send("report", queue="nobody", task_id="replaced", replaced_task_nesting=1)
    broker.query("DELETE FROM kombu_message WHERE task_id = 'replaced' AND lease_token = %s::uuid", token)
    assert broker.waits("replaced")


@pytest.mark.parametrize("ignored", [False, True])
def test_a_result_is_stored_unless_the_call_says_no(broker: Standing, task: Any, ignored: bool) -> None:
    result: AsyncResult = task("add", 1, 2).apply_async(ignore_result=ignored)
    broker.is_over(result.id)
    stored = broker.query("SELECT status FROM celery_taskmeta WHERE task_id = %s", result.id)
    assert stored == ([] if ignored else [("SUCCESS",)])
