"""What a limit counts, what waits for it, and in which order that goes on."""

from __future__ import annotations

import json
from typing import Any

import pytest
from durable_harness.broker import Broker
from durable_harness.limited import Limited

HOUR = 3600
ADVISORY_LOCKS = """
    SELECT count(*) FROM pg_locks
     WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""


@pytest.fixture
def queue(broker: Broker) -> Limited:
    made = Limited(broker)
    made.add_queue()
    return made


#: What is limited to one in an hour -> of the messages below, those that start at once.
SCOPES: dict[str, tuple[dict[str, Any], set[str]]] = {
    "queue": ({}, {"t ann 0"}),
    "task": ({"task": "t"}, {"t ann 0", "u ann 0", "u ann 1", "u bob 0", "u bob 1", "u - 0", "u - 1"}),
    "tenant": ({"tenant": "ann"}, {"t ann 0", "t bob 0", "t bob 1", "t - 0", "t - 1", "u bob 0", "u bob 1", "u - 0", "u - 1"}),
    "no tenant": ({"tenant": ""}, {"t ann 0", "t ann 1", "t bob 0", "t bob 1", "t - 0", "u ann 0", "u ann 1", "u bob 0", "u bob 1"}),
    "each tenant": ({"per_tenant": True}, {"t ann 0", "t bob 0", "t - 0"}),
    "task and tenant": (
        {"task": "u", "tenant": "bob"},
        {"t ann 0", "t ann 1", "t bob 0", "t bob 1", "t - 0", "t - 1", "u ann 0", "u ann 1", "u bob 0", "u - 0", "u - 1"},
    ),
    "task of each tenant": (
        {"task": "u", "per_tenant": True},
        {"t ann 0", "t ann 1", "t bob 0", "t bob 1", "t - 0", "t - 1", "u ann 0", "u bob 0", "u - 0"},
    ),
}  # fmt: skip


@pytest.mark.parametrize("most", [1, 100])
@pytest.mark.parametrize(("of", "pass_"), SCOPES.values(), ids=SCOPES)
def test_a_limit_counts_what_it_is_of_and_nothing_else(
    queue: Limited, of: dict[str, Any], pass_: set[str], most: int
) -> None:
    queue.limit("1/h", **of)
    sent = [f"{task} {tenant} {number}" for task in "tu" for tenant in ("ann", "bob", "-") for number in range(2)]
    for one in sent:
        task, tenant, _ = one.split()
        queue.send(one, task=task, tenant=None if tenant == "-" else tenant)
    started = queue.tasks() if most == 1 else [one.task for one in queue.claim(most)]
    assert set(started) == pass_
    assert sorted(started + queue.waiting()) == sorted(sent)
    assert queue.astray() == []


@pytest.mark.parametrize("burst", [1, 3])
def test_so_many_start_at_once_and_then_one_each_time(queue: Limited, burst: int) -> None:
    queue.limit("2/h", burst)
    queue.send(*"abcdefghij")
    assert queue.tasks() == list("abcdefghij"[:burst])
    for number in range(3):
        queue.later(HOUR / 2 - 60)
        assert queue.tasks() == []
        queue.later(60)
        assert queue.tasks() == ["abcdefghij"[burst + number]]
    queue.later(10 * HOUR)
    assert queue.tasks() == list("abcdefghij"[burst + 3 : 2 * burst + 3])


def test_a_start_that_comes_a_little_late_costs_no_rate(queue: Limited) -> None:
    queue.limit("2/h")
    queue.send(*"abc")
    assert queue.tasks() == ["a"]
    queue.later(HOUR / 2)
    queue.run("UPDATE durable_line SET next_at = clock_timestamp() - interval '0.08 s', wake_at = clock_timestamp()")
    assert queue.tasks() == ["b"]
    [(left,)] = queue.run("SELECT extract(epoch FROM next_at - clock_timestamp())::float8 FROM durable_line")
    assert left < HOUR / 2 - 0.08 + 0.001


@pytest.mark.parametrize("body", ["{", "[]", '{"headers": []}', '{"headers": {}}', "\\u0000", '"\\u0000"'])
def test_a_payload_without_a_name_is_of_no_task(queue: Limited, body: str) -> None:
    queue.limit("1/h", task="t")
    queue.send("a", "b", body=body)
    assert queue.tasks() == ["a", "b"]


def test_who_comes_later_does_not_pass_who_waits(queue: Limited) -> None:
    queue.limit("1/h")
    queue.send("a", "b")
    assert queue.tasks() == ["a"]
    queue.send("c")
    queue.later(HOUR)
    assert queue.claim(5)[0].task == "b"
    assert queue.waiting() == ["c"]


def test_who_comes_does_not_pass_who_cannot_be_woken_just_now(broker: Broker, queue: Limited) -> None:
    queue.limit("1/h")
    queue.send("a", "b")
    assert queue.tasks() == ["a"]
    web = Limited(broker, autocommit=False)
    web.run("SELECT broker_hold('b')")
    queue.send("c")
    queue.later(HOUR)
    assert queue.claim(1) == []
    assert queue.waiting() == ["b", "c"]


def test_nor_does_it_take_the_start_of_who_was_woken(queue: Limited) -> None:
    queue.limit("1/h")
    queue.send("a", "b", tenant="ann")
    assert queue.tasks() == ["a"]
    queue.later(HOUR)
    queue.poll()
    assert queue.ready() == ["b"]
    queue.run("UPDATE durable_ready SET rank = rank + 1000000")
    queue.send("c", tenant="bob")
    queue.run("UPDATE durable_ready SET rank = 1 WHERE tenant = 'bob'")
    assert queue.tasks() == ["b"]
    assert queue.waiting() == ["c"]


def test_one_of_a_tenant_does_not_wait_behind_the_many_of_another(queue: Limited) -> None:
    queue.limit("1/h")
    queue.send(*(f"ann {number}" for number in range(50)), tenant="ann")
    assert queue.tasks() == ["ann 0"]
    queue.send("bob 0", "bob 1", tenant="bob")
    queue.send("cid 0", "cid 1", "cid 2", "cid 3", tenant="cid", step=50)  # with a double share
    assert queue.tasks() == []
    order = []
    for _ in range(9):
        queue.later(HOUR)
        order += queue.tasks()
    assert order == ["ann 1", "bob 0", "cid 0", "cid 1", "ann 2", "bob 1", "cid 2", "cid 3", "ann 3"]


def test_a_line_is_in_the_order_of_priority_inside_of_a_tenant(queue: Limited) -> None:
    queue.limit("1/h")
    queue.send("ann 0", "ann 1", "ann 2", tenant="ann")
    assert queue.tasks() == ["ann 0"]
    queue.send("high", "high too", tenant="ann", priority=9)
    queue.send("bob", tenant="bob")
    queue.send("low", tenant="ann")
    assert queue.tasks() == []
    order = []
    for _ in range(6):
        queue.later(HOUR)
        order += queue.tasks()
    assert order == ["high", "bob", "high too", "ann 1", "ann 2", "low"]


def test_who_is_woken_takes_the_next_turn_of_its_tenant_and_no_sooner_one(queue: Limited) -> None:
    queue.limit("1/h", task="t")
    queue.send("a", "b", tenant="ann")
    assert queue.tasks() == ["a"]
    for number in range(5):
        queue.send(f"ann {number}", task="u", tenant="ann")
        queue.send(f"bob {number}", task="u", tenant="bob")
    assert queue.tasks(2) == ["ann 0", "bob 0"]
    ranks = queue.turns()
    queue.later(HOUR)
    queue.poll()
    assert queue.turns()[: len(ranks)] == ranks  # one turn more, and that is the tenant's last
    assert queue.tasks() == ["b", "bob 1", "ann 1", "bob 2", "ann 2", "bob 3", "ann 3", "bob 4", "ann 4"]


def test_what_waits_for_one_limit_spends_nothing_of_another(queue: Limited) -> None:
    queue.limit("1/h", 5)
    queue.limit("1/h", task="t")
    queue.send(*"abc")
    assert queue.tasks() == ["a"]
    queue.send(*"uvwxyz", task="u")
    assert queue.tasks() == list("uvwx")


def test_who_waits_for_two_limits_waits_for_one_after_the_other(queue: Limited) -> None:
    queue.limit("1/h", per_tenant=True)
    queue.limit("1/h", task="t")
    for tenant in ("ann", "bob"):
        queue.send(f"{tenant} 0", f"{tenant} 1", tenant=tenant)
    order = queue.tasks()
    for _ in range(3):
        queue.later(HOUR)
        order += queue.tasks()
        assert len(order) == _ + 2
    assert order == ["ann 0", "bob 0", "ann 1", "bob 1"]
    assert queue.waiting() == queue.ready() == []


def test_two_that_wait_for_each_others_limit_both_start(queue: Limited) -> None:
    """What waits for the first one may not keep what it got at the second one."""
    queue.limit("1/h", task="t")
    queue.limit("1/h", tenant="ann")
    queue.send("u", task="u", tenant="ann")
    assert queue.tasks() == ["u"]
    queue.send("one", tenant="ann")
    assert queue.tasks() == []  # it waits for the second limit, and has not spent the first one
    queue.send("other", tenant="bob")
    assert queue.tasks() == ["other"]
    queue.send("third", tenant="ann")
    assert queue.tasks() == []
    for _ in range(4):
        queue.later(HOUR)
        queue.tasks()
    assert queue.waiting() == queue.ready() == []
    assert queue.run("SELECT woken FROM durable_line WHERE woken <> '{}'") == []


@pytest.mark.parametrize("limited", [99, 600, 1600])
def test_many_that_wait_hold_up_nobody(queue: Limited, limited: int) -> None:
    queue.limit("1/h", task="t")
    queue.send(*(f"{number}" for number in range(limited)), tenant="ann")
    queue.send("last of ann", task="u", tenant="ann")
    claim = "SELECT message_id, deliveries, place FROM durable_claim('main', 1, 1, 900, 0, 0)"
    found = []
    for number in range(limited // 500 + 3):
        rows = queue.run(claim)
        assert len(queue.waiting()) <= 505 * (number + 1)  # a claim is short, whatever waits
        if len(found) == 1 and rows[0][0] is None:
            assert rows == [(None, 0, 0)]  # awake, and to come again at once
        found += [row[0] for row in rows if row[0]]
    [(last,)] = queue.run("SELECT id FROM durable_message WHERE task_id = 'last of ann'")
    assert found == [last - limited, last]
    assert len(queue.waiting()) == limited - 1


def test_a_claim_puts_few_in_lines_where_each_tenant_has_one_and_comes_again(queue: Limited) -> None:
    tenants = [f"tenant {number}" for number in range(50)]
    queue.limit("1/h", per_tenant=True)
    for tenant in tenants:
        queue.send(tenant, tenant=tenant)
    assert len(queue.tasks()) == 50
    for tenant in tenants:
        queue.send(f"{tenant} too", tenant=tenant)
    queue.send("free", task="u", tenant=tenants[0])
    claim = "SELECT message_id, place FROM durable_claim('main', 4, NULL, 900, 0, 0)"
    assert queue.run(claim) == [(None, 0)]
    assert len(queue.waiting()) == 20


def test_a_claim_wakes_ten_lines_and_comes_again_for_the_others(queue: Limited) -> None:
    queue.limit("1/h", per_tenant=True)
    for tenant in range(30):
        queue.send(f"first {tenant}", f"second {tenant}", tenant=f"{tenant}")
    while len(queue.waiting()) < 30:
        queue.claim(40)
    queue.later(HOUR)
    claim = "SELECT message_id IS NULL, place FROM durable_claim('main', 1, NULL, 900, 0, 0)"
    assert queue.run(claim)[-1] == (True, 0)
    assert len(queue.waiting()) == 20


def test_what_goes_into_a_line_at_once_stands_there_as_one_by_one(queue: Limited) -> None:
    """By turns of its tenant, and in each by priority and age; and nothing else goes with it."""
    queue.limit("1/h", task="t")
    queue.limit("0.5/h", task="t", tenant="dan")
    queue.send("first", tenant="ann")
    queue.send(*(f"ann {number}" for number in range(30)), tenant="ann")
    queue.send(*(f"bob {number}" for number in range(10)), tenant="bob", step=50)
    queue.send("bob high", "bob high too", tenant="bob", priority=5, step=50)
    queue.send("cid", "dan", tenant="cid")
    queue.send("dan 0", "dan 1", tenant="dan")
    queue.send("cancelled", tenant="eve")
    queue.send("large", tenant="eve", body=json.dumps({"body": "x" * 20_000, "headers": {"task": "t"}}))
    queue.send("other", task="u", tenant="eve")
    queue.run("SELECT broker_request_cancel('cancelled')")
    started: list[str] = []
    while queue.ready():
        started += queue.tasks()
    assert sorted(started) == ["cancelled", "first", "other"]
    assert queue.astray() == []
    order = []
    for _ in range(12):
        queue.later(HOUR)
        order += queue.tasks()
    of = {name: [one for one in order if one.startswith(name)] for name in ("ann", "bob", "cid", "dan")}
    assert of["ann"] == [f"ann {number}" for number in range(len(of["ann"]))]
    assert of["bob"][:4] == ["bob high", "bob high too", "bob 0", "bob 1"]
    assert len(of["bob"]) in (2 * len(of["ann"]) + by for by in (-2, -1, 0, 1))


def test_while_the_woken_wait_for_their_turns_as_many_are_woken_as_fall_due_in_a_fifth_of_a_second(
    queue: Limited,
) -> None:
    """Else a limit would start one in the time that its tenants' other messages take for a turn."""
    sent = [f"{number}" for number in range(20)]
    queue.limit("20/s")
    queue.send(*sent)
    started = [one.task for one in queue.claim(20)]
    for _ in range(10):
        queue.later(0.05)
        queue.poll()
    woken = len(queue.ready())
    assert 5 <= woken <= 6
    started += [one.task for one in queue.claim(20)]
    assert started + queue.waiting() == sent  # who came too soon is in front again


def test_a_claim_that_started_one_is_told_when_the_next_may_start(queue: Limited) -> None:
    queue.limit("2/h")
    queue.send("a", "b")
    claim = "SELECT message_id IS NULL, place FROM durable_claim('main', 5, NULL, 900, 0, 0)"
    rows = queue.run(claim)
    assert [row[0] for row in rows] == [False, True]
    assert 0 < rows[-1][1] <= 1_800_000_000
    assert queue.run(claim) == []  # one that did nothing is not told: else all nodes would come


def test_a_claim_that_put_all_others_in_a_line_is_told_so_too(queue: Limited) -> None:
    """Were it told to come at once, it would do nothing then, and not be told."""
    queue.limit("2/h")
    queue.send(*(f"{number}" for number in range(60)))
    rows = queue.run("SELECT message_id IS NULL, place FROM durable_claim('main', 5, NULL, 900, 0, 0)")
    assert [row[0] for row in rows] == [False, True]
    assert 0 < rows[-1][1] <= 1_800_000_000
    assert queue.ready() == []


def test_a_node_falls_asleep_on_a_queue_with_limits_and_wakes(queue: Limited) -> None:
    queue.limit("1/h", 5)
    queue.run("SELECT durable_queue_add('main')")
    state = "SELECT message_id IS NULL, deliveries FROM durable_claim('main', 2, 1, 900, 0, %s)"
    assert queue.run(state, (0,)) == [(True, 2)]
    assert queue.run(state, (2,)) == []
    queue.send("a", "b")
    assert queue.run(state, (2,))[-1] == (True, 0)
    assert queue.run(ADVISORY_LOCKS) == [(0,)]


def test_what_a_limit_knew_is_forgotten_when_nothing_comes(queue: Limited) -> None:
    queue.limit("1/h", per_tenant=True)
    for tenant in ("ann", "bob"):
        queue.send(tenant, tenant=tenant)
    queue.send("ann too", tenant="ann")
    assert sorted(queue.tasks()) == ["ann", "bob"]
    queue.later(HOUR - 10)
    queue.poll()
    assert queue.run("SELECT tenant FROM durable_line ORDER BY 1") == [("ann",), ("bob",)]
    queue.later(120)
    queue.poll()
    assert queue.run("SELECT tenant FROM durable_line") == [("ann",)]
