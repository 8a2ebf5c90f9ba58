"""Random histories of publishers and nodes on a real PostgreSQL, against a model of a few lines."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from itertools import count
from math import inf
from types import SimpleNamespace
from typing import Any

import pytest
from celery_durable.commit_pacing import CommitPacing
from celery_durable.database import runner
from celery_durable.envelope import Letter
from celery_durable.ledger import ACK, REJECTED, REQUEUE
from celery_durable.node import Node
from celery_durable.options import Options
from celery_durable.park import park, wake
from celery_durable.publish import put, put_many
from celery_durable.statements import statements
from durable_harness.broker import Broker
from durable_harness.waiting import wait_for
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    Bundle,
    RuleBasedStateMachine,
    consumes,
    invariant,
    multiple,
    rule,
    run_state_machine_as_test,
)

MOST_LOSSES = 3
# Nothing happens by itself: no heartbeat, no poll.
OPTIONS = Options(lease_seconds=9000, heartbeat_seconds=3000, poll_seconds=9000, max_deliveries=MOST_LOSSES)
SQL = statements(OPTIONS)
GROUPS = ("ann", "bob")
TABLE = """SELECT task_id, CASE WHEN visible THEN 'ready' WHEN lease_token IS NOT NULL THEN 'leased' ELSE delay_reason END,
                  started_at IS NOT NULL, retry_count, snooze_count, lost_count FROM kombu_message"""
#: Messages that do not stand in exactly one place, and places of messages that are gone.
ASTRAY = """
    SELECT coalesce(m.id, s.id), count(s.id) FROM durable_message AS m FULL JOIN (
           SELECT id FROM durable_ready UNION ALL SELECT id FROM durable_lease UNION ALL SELECT id FROM durable_waiting) AS s
        ON s.id = m.id GROUP BY 1, m.id HAVING count(s.id) <> 1 OR m.id IS NULL"""
EXAMPLES, STEPS = int(os.environ.get("BROKER_MODEL_EXAMPLES", "25")), int(os.environ.get("BROKER_MODEL_STEPS", "50"))


@dataclass
class Message:
    """What the model knows of one."""

    group: str
    state: str = "ready"
    token: str | None = None
    started: bool = False
    retries: int = 0
    snoozes: int = 0
    losses: int = 0
    priority: int = 0

    def back(self, *, lost: bool) -> None:
        self.losses += lost and self.started
        self.state, self.token, self.started = "ready", None, False


@dataclass
class Holder:
    """A node, and what it was given."""

    node: Node
    inbox: list[Any] = field(default_factory=list)


@dataclass(frozen=True)
class Delivery:
    """Of a task to a holder."""

    holder: Holder
    tag: str
    task_id: str
    token: str


class History(RuleBasedStateMachine):
    """Rules are what publishers, nodes, applications and accidents do."""

    broker: Broker
    deliveries = Bundle("deliveries")

    def __init__(self) -> None:
        super().__init__()
        self.broker.query("TRUNCATE durable_message, durable_ready, durable_lease, durable_waiting, kombu_dead_letter,"
                          " kombu_group, kombu_node; DELETE FROM durable_queue")  # fmt: skip
        self.connection = self.broker.connect()
        self.connection.autocommit = True
        self.run = runner(self.connection)
        self.run(SQL.add_queue, {"queue": "main"})
        self.messages: dict[str, Message] = {}
        self.dead: list[str] = []
        self.parked: set[str] = set()
        self.tokens: set[str] = set()
        self.numbers = count(1)
        self.holders = [self.new_holder(), self.new_holder()]

    def new_holder(self) -> Holder:
        inbox: list[Any] = []

        def decode(row: Any, queue: str) -> Any:
            return SimpleNamespace(delivery_tag=f"{row[0]}:{row[1]}", headers={"id": row[2]}, token=row[1], queue=queue)

        node = Node(self.broker.url, OPTIONS, decode=decode, deliver=lambda message, _: inbox.append(message))
        node.prefetch_count = 1
        node.open()
        node.reader.add("main")
        node.reader.poll_at = node.reader.watch_at = inf
        node.reader._first_looks = 0
        return Holder(node, inbox)

    def post(self, task_id: str, group: str, **changes: Any) -> Letter:
        letter = Letter(
            "main",
            task_id,
            task_id,
            group,
            None,
            None,
            100,
        )
        return letter._replace(**changes)

    def ready(self, group: str) -> str:
        return "parked" if group in self.parked else "ready"

    @rule(
        group=st.sampled_from(GROUPS),
        delayed=st.booleans(),
        number=st.integers(1, 3),
        priority=st.sampled_from((0, 0, 7)),
    )
    def publish(self, group: str, delayed: bool, number: int, priority: int) -> None:
        fresh = [f"t{next(self.numbers)}" for _ in range(number)]
        delay = 5000.0 if delayed else None
        letters = [self.post(name, group, delay=delay, priority=priority) for name in fresh]
        if number == 1:
            put(self.run, SQL, letters[0])
        else:
            put_many(self.run, SQL, letters)
        for name in fresh:
            self.messages[name] = Message(group, "eta" if delayed else self.ready(group), priority=priority)

    @rule(data=st.data())
    def publish_again(self, data: st.DataObject) -> None:
        if self.messages:
            name = data.draw(st.sampled_from(sorted(self.messages)))
            put(self.run, SQL, self.post(name, self.messages[name].group))

    @rule(target=deliveries, which=st.integers(0, 1), number=st.integers(1, 3))
    def claim(self, which: int, number: int) -> Any:
        holder = self.holders[which]
        waiting = {name for name, message in self.messages.items() if message.state == "ready"}
        holder.node.prefetch_count = len(holder.node.held) + number
        holder.node.reader.hear("main", None)
        holder.node.reader._positions["main"].budget.due_at = 0
        holder.node.reader.poll_at = holder.node.reader.watch_at = inf
        holder.node.pacing = CommitPacing()
        holder.node.step()
        buried = {row[0] for row in self.run("SELECT task_id FROM kombu_dead_letter", {})} - set(self.dead)
        got = [Delivery(holder, m.delivery_tag, m.headers["id"], m.token) for m in holder.inbox]
        holder.inbox.clear()
        names = {delivery.task_id for delivery in got}
        assert names <= waiting
        assert len(got) == len(names)
        assert len(got) == min(number, len(waiting) - len(buried))
        assert buried == {name for name in buried if self.messages[name].losses >= MOST_LOSSES}
        for delivery in got:
            assert self.messages[delivery.task_id].losses < MOST_LOSSES
            assert delivery.token not in self.tokens  # never two holders of one token
            self.tokens.add(delivery.token)
            self.messages[delivery.task_id].state = "leased"
            self.messages[delivery.task_id].token = delivery.token
        for name in buried:
            self.dead.append(name)
            del self.messages[name]
        return multiple(*got)

    def valid(self, delivery: Delivery) -> Message | None:
        message = self.messages.get(delivery.task_id)
        return message if message is not None and message.token == delivery.token else None

    @rule(delivery=deliveries)
    def start(self, delivery: Delivery) -> None:
        self.run(
            "UPDATE kombu_message SET started_at = now() WHERE task_id = %(id)s AND lease_token = %(token)s",
            {"id": delivery.task_id, "token": delivery.token},
        )
        if message := self.valid(delivery):
            message.started = True

    @rule(delivery=consumes(deliveries), how=st.sampled_from([ACK, REJECTED, REQUEUE]))
    def settle(self, delivery: Delivery, how: str) -> None:
        message = self.valid(delivery)
        held = delivery.tag in delivery.holder.node.held and delivery.holder in self.holders
        delivery.holder.node.settle(delivery.tag, how)
        if message is None or not held:
            return
        if how == REQUEUE:
            message.back(lost=True)
            return
        del self.messages[delivery.task_id]
        if how == REJECTED:
            self.dead.append(delivery.task_id)

    @rule(delivery=deliveries, delayed=st.booleans(), snooze=st.booleans())
    def retry(self, delivery: Delivery, delayed: bool, snooze: bool) -> None:
        known = self.messages.get(delivery.task_id)
        put(self.run, SQL, self.post(delivery.task_id, "", lease_token=delivery.token, snooze=snooze, is_retry=True,
                                     delay=5000.0 if delayed else None, priority=known.priority if known else 0))  # fmt: skip
        if message := self.valid(delivery):
            message.retries += not snooze
            message.snoozes += snooze
            message.state, message.token, message.started = "ready", None, False
            if delayed:
                message.state = "snooze" if snooze else "retry"

    @rule(delivery=deliveries)
    def renew(self, delivery: Delivery) -> None:
        row_id = int(delivery.tag.partition(":")[0])
        given = {"ids": [row_id], "tokens": [delivery.token], "lease": 9000, "begun": []}
        renewed = self.run(SQL.renew, given)
        assert renewed == ([(row_id, True)] if self.valid(delivery) else [])

    @rule(delivery=deliveries)
    def lease_ends(self, delivery: Delivery) -> None:
        self.run("UPDATE kombu_message SET visible_at = now() WHERE lease_token = %(token)s", {"token": delivery.token})
        self.poll()
        if message := self.valid(delivery):
            message.back(lost=True)

    @rule()
    def delays_end(self) -> None:
        self.run("UPDATE kombu_message SET visible_at = now() WHERE delay_reason IN ('eta', 'retry', 'snooze')", {})
        self.poll()
        for message in self.messages.values():
            if message.state in ("eta", "retry", "snooze"):
                message.state = "ready"

    @rule(which=st.integers(0, 1))
    def node_dies(self, which: int) -> None:
        doomed = self.holders[which].node
        with doomed._heart_database._lock:  # its thread may be opening a session
            pids = [one.backend for one in (doomed.session._database, doomed._heart_database)]
        doomed._heart.stop()
        self.run("SELECT pg_terminate_backend(pid) FROM unnest(%(pids)s) AS pid", {"pids": pids})
        # as long as one of both sessions ends, it has the node's lock
        wait_for(lambda: not self.run("SELECT 1 FROM pg_stat_activity WHERE pid = ANY(%(pids)s)", {"pids": pids}))
        held = {lease.token for lease in doomed.held.values()}
        doomed.session.connected = False  # it never comes back
        doomed._pid = -1
        self.holders[which] = self.new_holder()
        for _ in range(2):  # in doubt, and dead a second later
            self.run("SELECT durable_judge(NULL, true, 0)", {})
            self.run("UPDATE kombu_node SET suspected_at = suspected_at - interval '1 min'", {})
        for message in self.messages.values():
            if message.token in held:
                message.back(lost=True)

    @rule(which=st.integers(0, 1))
    def node_stops(self, which: int) -> None:
        held = {lease.token for lease in self.holders[which].node.held.values()}
        self.holders[which].node.close()
        self.holders[which] = self.new_holder()
        for message in self.messages.values():
            if message.token in held:
                message.back(lost=False)

    @rule(group=st.sampled_from(GROUPS))
    def group_is_parked(self, group: str) -> None:
        park(self.connection, "main", group, seconds=9000)
        self.parked.add(group)
        for message in self.messages.values():
            if (message.group, message.state) == (group, "ready"):
                message.state = "parked"

    @rule(group=st.sampled_from(GROUPS), most=st.integers(1, 2))
    def group_is_woken(self, group: str, most: int) -> None:
        mine = [(name, m.state) for name, m in self.messages.items() if m.group == group]
        mine.sort(key=lambda one: -self.messages[one[0]].priority)
        waiting = [name for name, state in mine if state in ("parked", "snooze")]
        woken = wake(self.connection, "main", group, most=most)
        assert sorted(str(name) for name in woken) == sorted(waiting[:most])
        for name in waiting[:most]:
            self.messages[name].state = "ready"
        if "parked" not in {state for name, state in mine if name not in waiting[:most]}:
            self.parked.discard(group)

    def poll(self) -> None:
        given = {"queues": ["main"], "owner": None, "settled": True, "since": None, "prefetch": None}
        self.run(SQL.poll, given)

    @invariant()
    def the_table_is_as_the_model_says(self) -> None:
        expected = {
            (name, m.state, m.started, m.retries, m.snoozes, m.losses) for name, m in self.messages.items()
        }  # fmt: skip
        assert set(self.run(TABLE, {})) == expected
        assert self.run(ASTRAY, {}) == []
        assert sorted(row[0] for row in self.run("SELECT task_id FROM kombu_dead_letter", {})) == sorted(self.dead)
        assert {row[0] for row in self.run("SELECT name FROM kombu_group", {})} == self.parked

    def teardown(self) -> None:
        for holder in self.holders:
            holder.node.close()
        self.connection.close()


@pytest.mark.proof
def test_every_history_ends_as_the_model_says(broker: Broker) -> None:
    machine = type("OfThisBroker", (History,), {"broker": broker})
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=EXAMPLES, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck), phases=(Phase.generate, Phase.shrink),
        ),
    )  # fmt: skip
