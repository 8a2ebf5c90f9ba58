"""Random histories of a queue with priorities, against turns that know nothing of them; and claims at the same time."""

from __future__ import annotations

import random
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field

import pytest
from durable_harness.broker import Broker
from durable_harness.sessions import Sessions
from durable_harness.turns import FLOOR, Claimed, Turns
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TENANTS = ("ann", "bob", "cid")
PRIORITIES = st.sampled_from((0, 0, 0, 1, 5, 9))
PUBLISH = st.tuples(st.just("publish"), st.sampled_from(TENANTS), PRIORITIES, st.sampled_from((50, 100, 300)))
CLAIM = st.tuples(st.just("claim"), st.integers(1, 4))
BACK = st.tuples(st.sampled_from(("give back", "end")), st.integers(0, 20))
RETRY = st.tuples(st.just("retry"), st.integers(0, 20), st.none() | PRIORITIES)


@dataclass
class Model:
    """Turns are (rank, tenant).  messages: task -> (tenant, priority, the rank it came with, its id)."""

    turns: list[tuple[int, str]] = field(default_factory=list)
    messages: dict[str, tuple[str, int, int, int]] = field(default_factory=dict)

    def next_rank(self, tenant: str, step: int) -> int:
        own = [rank for rank, whose in self.turns if whose == tenant]
        return max(own) + step if own else min((rank for rank, _ in self.turns), default=FLOOR)

    def add(self, task: str, number: int, tenant: str, priority: int, rank: int) -> None:
        self.turns.append((rank, tenant))
        self.messages[task] = (tenant, priority, rank, number)

    def take(self, claimed: Claimed) -> tuple[str, int, int, int]:
        """Between tenants of one rank the order is open, and so is that of a tenant's messages of one rank."""
        tenant, priority, came, number = self.messages.pop(claimed.task)
        assert claimed.rank == min(rank for rank, _ in self.turns)
        self.turns.remove((claimed.rank, tenant))
        rivals = [(-p, own, one) for whose, p, own, one in self.messages.values() if whose == tenant]
        assert all((-priority, came) <= rival[:2] for rival in rivals)
        return tenant, priority, came, number


@given(st.lists(PUBLISH | CLAIM | BACK | RETRY, max_size=40))
@settings(max_examples=60, suppress_health_check=list(HealthCheck))
def histories(turns: Turns, steps: list[tuple[object, ...]]) -> None:
    turns.run("TRUNCATE durable_message, durable_ready, durable_lease, durable_waiting")
    model, held, weights = Model(), [], {}
    for place, (what, *more) in enumerate(steps):
        if what == "publish":
            tenant, priority, step = more
            task = f"{place}"
            number = turns.publish(task, priority, tenant, step=step)
            weights[task] = step
            model.add(task, number, tenant, priority, model.next_rank(tenant, step))
        elif what == "claim":
            got = turns.claim(more[0])
            assert len(got) == min(more[0], len(model.messages))
            held += [(one, *model.take(one)) for one in got]
        elif held:
            one, tenant, priority, _, number = held.pop(more[0] % len(held))
            if what == "end":
                turns.end(one)
            elif what == "give back":
                turns.give_back(one)
                model.add(one.task, number, tenant, priority, one.rank)
            else:
                rank = model.next_rank(tenant, weights[one.task])
                turns.run("SELECT durable_retry(%s, %s, 'main', '{}', NULL, false, false, 0, 'main', %s)",
                          (one.task, one.token, more[1]))  # fmt: skip
                model.add(one.task, number, tenant, priority if more[1] is None else more[1], rank)
        assert turns.turns() == sorted(model.turns)
    assert len(turns.tasks(1000)) == len(model.messages)


@pytest.mark.proof
def test_turns_are_as_they_would_be_without_priorities(broker: Broker) -> None:
    turns = Turns(broker)
    turns.add_queue()
    histories(turns)


def test_claims_at_the_same_time_take_each_once_and_keep_the_turns(broker: Broker) -> None:
    chance = random.Random(29)
    turns = Turns(broker)
    turns.add_queue()
    for number in range(600):
        turns.publish(f"{number}", chance.choice((0, 0, 3, 9)), chance.choice(TENANTS))
    before = turns.turns()

    def worker(number: int) -> list[Claimed]:
        mine, own, got = Turns(broker), random.Random(number), []
        while more := mine.claim(own.randint(1, 5)):
            got += more
        return got

    with ThreadPoolExecutor(6) as pool:
        got = [one for part in pool.map(worker, range(6)) for one in part]
    got += turns.claim(600)  # what a claim found locked at its end
    assert sorted(one.task for one in got) == sorted(f"{number}" for number in range(600))
    assert sorted(one.rank for one in got) == [rank for rank, _ in before]
    held = turns.run(
        "SELECT l.rank, m.tenant FROM durable_lease AS l JOIN durable_message AS m USING (id) ORDER BY 1, 2"
    )
    assert [tuple(row) for row in held] == before


def test_of_messages_with_one_rank_the_highest_priority_is_first_in_a_batch_too(broker: Broker) -> None:
    """Publishers of one tenant who do not see each other get one rank."""
    turns = Turns(broker)
    turns.add_queue()
    for task, priority in (("low0", None), ("low1", None), ("high", 9)):
        turns.publish(task, priority)
    turns.run("UPDATE durable_ready SET rank = (SELECT min(rank) FROM durable_ready)")
    assert [one.task for one in turns.claim(3)] == ["high", "low0", "low1"]


def test_a_claim_that_is_not_over_keeps_its_message_and_no_other(broker: Broker) -> None:
    turns, slow = Turns(broker), Turns(broker, autocommit=False)
    turns.add_queue()
    for task, priority in (("low0", None), ("low1", None), ("high0", 5), ("high1", 5)):
        turns.publish(task, priority)
    turns.run("UPDATE durable_queue SET has_priorities = true")
    assert [one.task for one in slow.claim()] == ["high0"]  # it holds low0 too, whose turn that was
    assert turns.tasks() == ["high1", "low1"]
    slow.connection.rollback()
    assert turns.tasks() == ["high0", "low0"]


@pytest.mark.parametrize(
    ("act", "left"),
    [
        ("SELECT broker_regroup('low', 'bob', 'other', NULL, 100, 30)", ["low"]),
        ("SELECT broker_request_cancel('low')", ["low"]),
        ("SELECT broker_delete('low')", []),
    ],
    ids=["regroup", "cancel", "delete"],
)
def test_who_moves_a_message_that_just_gave_its_turn_away_waits_and_moves_it_once(
    broker: Broker, act: str, left: list[str]
) -> None:
    turns = Turns(broker)
    for queue in ("main", "other"):
        turns.add_queue(queue)
    turns.publish("low", None, "ann")
    turns.publish("high", 9, "ann")
    with ExitStack() as stack:
        sessions = Sessions(broker, stack)
        node, web = sessions.session(), sessions.session()
        node.run("SELECT message_id FROM durable_claim('main', 1, NULL, 900, 0, 0)")
        moves = sessions.waits(web, act)
        node.commit()
        moves.result()
        web.commit()
    assert turns.run("SELECT count(*) FROM durable_ready") == [(len(left),)]
    assert turns.tasks() + turns.tasks(queue="other") == left


def test_what_somebody_holds_is_passed_over_and_keeps_its_turn(broker: Broker) -> None:
    turns, web = Turns(broker), Turns(broker, autocommit=False)
    turns.add_queue()
    for task, priority in (("low", None), ("high", 5), ("highest", 9)):
        turns.publish(task, priority)
    ranks = [rank for rank, _ in turns.turns()]
    web.run("SELECT broker_hold('highest')")
    assert [(one.task, one.rank) for one in turns.claim(9)] == [("high", ranks[0]), ("low", ranks[1])]
    web.connection.rollback()
    assert [(one.task, one.rank) for one in turns.claim(9)] == [("highest", ranks[2])]
