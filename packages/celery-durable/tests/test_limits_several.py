"""Messages of several limits: a slow one holds up nobody else, few are sent about, and orders stay."""

from __future__ import annotations

from collections import Counter
from random import Random
from time import monotonic
from typing import Any

import pytest
from durable_harness.broker import Broker
from durable_harness.limited import Limited

#: Counts how often messages go into lines.
NOTE_MOVES = """
    CREATE TABLE moves (id bigint);
    CREATE FUNCTION note_move() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO moves VALUES (NEW.id); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT ON durable_waiting FOR EACH ROW EXECUTE FUNCTION note_move()"""
ANN = {"tenant": "ann"}


@pytest.fixture
def queue(broker: Broker) -> Limited:
    made = Limited(broker)
    made.add_queue()
    return made


def pass_by(queue: Limited, steps: int, seconds: float, most: int = 4) -> list[str]:
    """What is claimed while so many times so many seconds go by, and those that it takes."""
    found = []
    for _ in range(steps):
        queue.later(seconds)
        found += [one.task for one in queue.claim(most)]
    return found


def kinds(found: list[str]) -> Counter[str]:
    return Counter(name.split()[0] for name in found)


@pytest.mark.parametrize("slow_first", [True, False])
def test_a_tenant_with_a_slow_limit_holds_up_nobody_in_the_line_of_all(queue: Limited, slow_first: bool) -> None:
    limits: list[tuple[str, dict[str, Any]]] = [("20/s", {}), ("1/m", ANN)]
    for rate, of in reversed(limits) if slow_first else limits:
        queue.limit(rate, **of)
    for number in range(60):
        for tenant in ("ann", "bob", "cid"):
            queue.send(f"{tenant} {number}", tenant=tenant)
    found = kinds(pass_by(queue, 80, 0.05))
    assert found["bob"] + found["cid"] >= 70
    assert abs(found["bob"] - found["cid"]) <= 3
    assert found["ann"] >= 1


def test_a_slow_task_holds_up_no_other_in_the_line_of_all(queue: Limited) -> None:
    queue.limit("100/s")
    queue.limit("1/h", task="slow")
    for number in range(50):
        queue.send(f"fast {number}", tenant="ann")
        queue.send(f"slow {number}", task="slow", tenant="bob")
    assert kinds(pass_by(queue, 80, 0.01)) == {"fast": 50, "slow": 1}


def test_three_limits_of_one_message_each_let_what_they_may_start(queue: Limited) -> None:
    queue.limit("50/s", 5)
    queue.limit("20/s", 2, per_tenant=True)
    queue.limit("1/s", task="slow")
    for number in range(60):
        for tenant in "abcd":
            queue.send(f"{tenant} {number}", task="t" if number % 3 else "slow", tenant=tenant)
    found = kinds(pass_by(queue, 150, 0.02))
    assert sum(found.values()) >= 130
    assert max(found.values()) - min(found.values()) <= 4


def test_two_limits_that_cross_do_not_send_their_messages_to_each_other_for_ever(queue: Limited) -> None:
    """Both have somebody waiting all the time."""
    queue.run(NOTE_MOVES)
    queue.limit("20/s", task="t")
    queue.limit("20/s", **ANN)
    for number in range(250):
        queue.send(f"task {number}", tenant=f"x{number % 5}")
        queue.send(f"tenant {number}", task="u", tenant="ann")
        queue.send(f"both {number}", f"both {number}'", tenant="ann")
    while queue.ready():
        queue.claim(4)
    [(before,)] = queue.run("SELECT count(*) FROM moves")
    assert before <= 1010
    found = pass_by(queue, 150, 0.05)
    [(moves,)] = queue.run("SELECT count(*) FROM moves")
    assert len(found) >= 200
    assert moves - before <= 3 * len(found)
    assert queue.astray() == []


def test_tenants_with_slow_limits_of_their_own_are_as_the_others_in_the_line_of_all(queue: Limited) -> None:
    """The slow limits together would let start as many as the one of all."""
    queue.limit("100/s", 2)
    for number in range(50):
        queue.limit("2/s", tenant=f"slow{number}")
    for number in range(12):
        for tenant in [*(f"slow{one}" for one in range(50)), *(f"fast{one}" for one in range(5))]:
            queue.send(f"{tenant} {number}", tenant=tenant)
    found = kinds(pass_by(queue, 250, 0.01))
    slow = [found[f"slow{one}"] for one in range(50)]
    fast = [found[f"fast{one}"] for one in range(5)]
    assert sum(found.values()) >= 250
    assert max(fast) - min(fast) <= 2
    assert sum(fast) / 5 >= 0.8 * sum(slow) / 50
    assert min(slow) >= 1


def test_each_tenants_limit_beside_one_of_all_leaves_tenants_equal(queue: Limited) -> None:
    queue.limit("20/s")
    queue.limit("15/s", per_tenant=True)
    for tenant in ("ann", "bob", "cid"):  # the oldest are ann's
        queue.send(*(f"{tenant} {number}" for number in range(60)), tenant=tenant)
    found = kinds(pass_by(queue, 150, 0.02))
    assert sum(found.values()) >= 58
    assert max(found.values()) - min(found.values()) <= 5


def test_a_tenants_messages_keep_their_order_through_two_lines(queue: Limited) -> None:
    queue.limit("20/s")
    queue.limit("5/s", 2, **ANN)
    for number in range(40):
        for tenant in ("ann", "bob", "cid"):
            queue.send(f"{tenant} {number}", tenant=tenant)
    found = pass_by(queue, 300, 0.05)
    assert len(found) == 120
    for tenant in ("ann", "bob", "cid"):
        order = [int(name.split()[1]) for name in found if name.startswith(tenant)]
        assert order == sorted(order)


def test_nobody_is_overtaken_by_a_younger_one_of_its_tenant_that_came_through_another_line(queue: Limited) -> None:
    """The limits of the tenants bar some of their messages, as they come, and leave the others to the line of all."""
    queue.limit("20/s")
    queue.limit("5/s", per_tenant=True)
    for number in range(20):
        for tenant in range(12):
            queue.send(f"{tenant} {number}", tenant=f"{tenant}")
    found = pass_by(queue, 250, 0.03, most=1)
    assert len(found) >= 140
    assert max(kinds(found).values()) - min(kinds(found).values()) <= 3
    for tenant in range(12):
        order = [int(name.split()[1]) for name in found if name.startswith(f"{tenant} ")]
        assert order == sorted(order)


def test_who_is_woken_by_one_line_passes_who_waits_in_another_that_lets_it_start(queue: Limited) -> None:
    queue.limit("1/h", 2, task="t")
    queue.limit("2/h", **ANN)
    queue.send("ann", tenant="ann", task="u")
    queue.send("bob", "bob too", "bob three", tenant="bob")
    assert queue.tasks() == ["ann", "bob", "bob too"]
    queue.send("both", tenant="ann")
    assert queue.tasks() == []
    assert queue.waiting() == ["bob three", "both"]  # the slower limit is the task's
    queue.later(3600)
    assert queue.tasks() == ["bob three"]
    queue.later(3600)
    assert queue.tasks() == ["both"]


def test_who_is_woken_and_barred_elsewhere_gives_its_place_to_the_next(queue: Limited) -> None:
    queue.limit("2/h", task="t")
    queue.send("first", tenant="ann")
    queue.send("second", "third", tenant="ann")
    queue.send("other", tenant="bob")
    assert queue.tasks() == ["first"]
    queue.limit("1/h", **ANN)
    queue.send("spends", task="u", tenant="ann")
    assert queue.tasks() == ["spends"]
    queue.later(1800)
    assert queue.tasks() == []  # `second` was woken, and waits for the limit of ann now
    assert queue.run("SELECT woken FROM durable_line WHERE woken <> '{}'") == []
    queue.later(0.02)
    assert queue.tasks() == ["other"]
    queue.later(1800)
    assert queue.tasks() == ["second"]


def test_a_line_does_not_pour_all_it_has_into_another_one_at_once(queue: Limited) -> None:
    queue.run(NOTE_MOVES)
    queue.limit("1/m")
    queue.send(*(f"{number}" for number in range(40)), tenant="ann")
    assert queue.tasks() == ["0"]
    queue.limit("1/h", **ANN)
    queue.later(60)
    assert queue.tasks() == ["1"]
    queue.later(60)
    queue.run("TRUNCATE moves")
    began = monotonic()
    for _ in range(20):
        assert queue.claim(4) == []
    [(moves,)] = queue.run("SELECT count(*) FROM moves")
    assert 1 <= moves <= 1 + 100 * (monotonic() - began)


def test_an_older_one_of_a_tenant_starts_before_a_younger_one_that_another_line_has_woken(queue: Limited) -> None:
    queue.limit("2/h", task="t")
    queue.send("first", "second", "third", tenant="ann")
    assert queue.tasks() == ["first"]
    queue.limit("1/h", **ANN)
    queue.send("spends", task="u", tenant="ann")
    assert queue.tasks() == ["spends"]
    queue.later(1800)
    assert queue.tasks() == []  # `second` was woken, and waits for the limit of ann
    queue.later(1800)
    queue.poll()
    assert sorted(queue.ready()) == ["second", "third"]  # each by its own line, and there is one start for both
    assert queue.tasks() == ["second"]
    queue.later(3600)
    assert queue.tasks() == ["third"]


#: What a limit may be of.
SCOPES: tuple[dict[str, Any], ...] = (
    {}, {"task": "t"}, {"task": "u"}, {"per_tenant": True}, {"tenant": "a"}, {"tenant": "b"},
    {"task": "t", "per_tenant": True}, {"task": "u", "tenant": "a"},
)  # fmt: skip


@pytest.mark.proof
@pytest.mark.parametrize("seed", range(8))
def test_whatever_the_limits_are_all_start_in_about_the_time_that_they_take(queue: Limited, seed: int) -> None:
    chance = Random(seed)
    limits = [
        (of, chance.choice((2, 3, 5, 8, 10, 15, 20, 30)), chance.choice((1, 1, 2))) for of in chance.sample(SCOPES, 4)
    ]
    for of, rate, burst in limits:
        queue.limit(f"{rate}/s", burst, **of)
    sent = [(chance.choice("tuv"), chance.choice("aabcd")) for _ in range(80)]
    for number, (task, tenant) in enumerate(sent):
        queue.send(f"{number}", task=task, tenant=tenant, priority=chance.choice((None, None, None, 5)))
    least = max(
        (count - burst) / rate
        for of, rate, burst in limits
        for count in Counter(
            tenant if "per_tenant" in of else ""
            for task, tenant in sent
            if of.get("task", task) == task and of.get("tenant", tenant) == tenant
        ).values()
    )
    found: list[str] = []
    for _ in range(int((2 * least + 2) / 0.2)):
        found += pass_by(queue, 10, 0.02)
        if len(found) == len(sent):
            break
    assert sorted(found) == sorted(str(number) for number in range(80))


@pytest.mark.parametrize(
    "limits", [[("5/s", 1, {}), ("3/s", 10, {"task": "u"})], [("5/s", 1, {}), ("4/s", 3, {"task": "u"})]]
)
def test_a_task_with_a_slower_limit_keeps_its_place_among_its_tenants_others(
    queue: Limited, limits: list[tuple[str, int, dict[str, Any]]]
) -> None:
    """What only the fast limit bars goes into its line by hundreds, the others one by one."""
    for rate, burst, of in limits:
        queue.limit(rate, burst, **of)
    for number in range(100):
        queue.send(f"u {number}", task="u")
        queue.send(f"v {number}", task="v")
    found = pass_by(queue, 300, 0.04)
    assert kinds(found)["u"] >= 20
    assert abs(kinds(found)["u"] - kinds(found)["v"]) <= 3


def test_what_comes_back_from_a_worker_is_its_tenants_next_one(queue: Limited) -> None:
    queue.limit("5/m", 5)
    queue.send(*(f"{number}" for number in range(60)), tenant="ann")
    taken = queue.claim(5)
    queue.claim(5)  # moves the others into the line
    queue.give_back(*taken)
    assert pass_by(queue, 60, 3)[:8] == [str(number) for number in range(8)]


def test_lines_that_somebody_holds_keep_no_other_from_being_woken(broker: Broker, queue: Limited) -> None:
    tenants = [f"{number}" for number in range(40)]
    queue.limit("1/h", per_tenant=True)
    for tenant in tenants:
        queue.send(*(f"{tenant} {number}" for number in range(3)), tenant=tenant)
    started = kinds([one.task for _ in range(8) for one in queue.claim(40)])
    assert started == Counter(tenants)
    with broker.connect() as stranger, stranger.cursor() as cursor:
        cursor.execute("SELECT durable_line_lock(limit_id, tenant) FROM durable_line WHERE tenant::integer < 15")
        queue.later(5_000)
        found = kinds([one.task for _ in range(8) for one in queue.claim(40)])
    stranger.close()
    assert found == Counter(tenants[15:])
