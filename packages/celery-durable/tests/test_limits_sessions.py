"""Limits over many sessions and nodes at once: exact, and nobody waits for anybody."""

from __future__ import annotations

import random
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from math import inf
from time import monotonic
from typing import Any, cast

import pytest
from celery_durable.limits import limit, unlimit
from celery_durable.options import Options
from celery_durable.queue_position import QueuePosition
from celery_durable.reader import Claim, Reader
from celery_durable.session import Session
from celery_durable.statements import statements
from durable_harness.broker import PREFIX, Broker
from durable_harness.limited import Limited, too_many
from durable_harness.plans import pages
from durable_harness.taker import Take, Taker
from durable_harness.waiting import wait_for

HOUR = 3600
NOTE_STARTS = """
    CREATE TABLE starts (at timestamptz, id bigint);
    CREATE FUNCTION note_start() RETURNS trigger LANGUAGE plpgsql AS $$
    BEGIN INSERT INTO starts VALUES (NEW.until - interval '15 s', NEW.id); RETURN NULL; END $$;
    CREATE TRIGGER note AFTER INSERT ON durable_lease FOR EACH ROW EXECUTE FUNCTION note_start()"""
STARTS = """
    SELECT until - interval '900 s', m.tenant, m.payload::json #>> '{headers,task}'
      FROM durable_lease JOIN durable_message AS m USING (id) ORDER BY until"""
SQL = statements(Options())
NO_POLL = {"poll_seconds": 60}


@pytest.fixture
def queue(broker: Broker) -> Limited:
    made = Limited(broker)
    made.add_queue()
    return made


def claim_all(broker: Broker, number: int, sessions: int = 6) -> list[str]:
    """Sessions that claim at once, until so many are claimed."""
    found: list[str] = []

    def work(seed: int) -> None:
        mine, chance = Limited(broker), random.Random(seed)
        while len(found) < number:
            found.extend(one.task for one in mine.claim(chance.randint(1, 8)))

    with ThreadPoolExecutor(sessions) as pool:
        for one in [pool.submit(work, seed) for seed in range(sessions)]:
            one.result(60)
    return found


@pytest.mark.parametrize("burst", [1, 10])
def test_sessions_that_claim_at_once_start_no_more_than_the_limit(broker: Broker, queue: Limited, burst: int) -> None:
    queue.limit("60/s", burst)
    sent = [f"{number}" for number in range(150)]
    queue.send(*sent)
    assert sorted(claim_all(broker, 150)) == sorted(sent)
    assert too_many(queue.starts(), 60, burst) == []


def test_many_limits_at_once_hold_each_and_nobody_meets_a_deadlock(broker: Broker, queue: Limited) -> None:
    """Each claim meets the lines in another order."""
    queue.limit("60/s", 3, task="t")
    queue.limit("60/s", 3, task="u")
    queue.limit("40/s", 2, per_tenant=True)
    chance = random.Random(7)
    for number in range(200):
        queue.send(f"{number}", task=chance.choice("tuv"), tenant=chance.choice(("ann", "bob", "cid")))
    found = claim_all(broker, 200)
    assert Counter(found) == Counter(f"{number}" for number in range(200))
    assert queue.astray() == []
    starts = queue.run(STARTS)
    for tenant in ("ann", "bob", "cid"):
        assert too_many([at for at, whose, _ in starts if whose == tenant], 40, 2) == []
    for task in "tu":
        assert too_many([at for at, _, named in starts if named == task], 60, 3) == []


def test_a_claim_that_is_not_over_keeps_its_line_and_nothing_else(broker: Broker, queue: Limited) -> None:
    slow = Limited(broker, autocommit=False)
    queue.limit("1/h", task="t")
    queue.send("t0", "t1", "t2")
    queue.send("u0", task="u")
    assert [one.task for one in slow.claim()] == ["t0"]
    claim = "SELECT m.task_id, c.place FROM durable_claim('main', 9, NULL, 900, 0, 0) AS c LEFT JOIN durable_message AS m ON m.id = c.message_id"
    assert queue.run(claim) == [("u0", queue.run("SELECT rank FROM durable_lease")[0][0]), (None, 3000)]
    assert queue.waiting() == []  # they are ready still, in their order
    slow.connection.rollback()
    assert queue.tasks() == ["t0"]
    assert queue.waiting() == ["t1", "t2"]


def hold_lines(broker: Broker) -> Limited:
    """Somebody has the lines of all limits that are not per tenant."""
    held = Limited(broker, autocommit=False)
    assert held.run("SELECT durable_line_lock(id, '') FROM durable_limit") != []
    return held


def test_many_whose_line_somebody_has_hide_nothing_behind_them(broker: Broker, queue: Limited) -> None:
    queue.limit("1/h", task="t")
    queue.send(*(f"{number}" for number in range(500)), tenant="ann")
    queue.send("u0", task="u", tenant="ann")
    hold_lines(broker)
    claim = "SELECT m.task_id, c.place FROM durable_claim('main', 9, NULL, 900, 0, 0) AS c LEFT JOIN durable_message AS m ON m.id = c.message_id"
    [(started, _), (_, soon)] = queue.run(claim)
    assert (started, soon) == ("u0", 3000)
    assert queue.run(claim) == [(None, -1)]  # nothing was there to start
    assert queue.waiting() == []


def test_a_claim_from_a_rank_on_passes_over_few_whose_line_somebody_has(broker: Broker, queue: Limited) -> None:
    """A claim from the begin looks at many, and nodes take care that these take a small share of the time."""
    queue.limit("1/h", task="t")
    queue.send(*(f"{number}" for number in range(50)), tenant="ann")
    hold_lines(broker)
    turns = "SELECT retries FROM durable_queue AS q, durable_take_turns(q.id, 9, NULL, 900, %s, true)"
    assert [queue.run(turns, (rank,)) for rank in (0, 1)] == [[(50,)], [(20,)]]


def test_where_somebody_has_the_line_of_all_a_claim_looks_at_one_message(broker: Broker, queue: Limited) -> None:
    queue.limit("1/h")
    queue.send(*(f"{number}" for number in range(50)), tenant="ann")
    hold_lines(broker)
    turns = "SELECT message_id, deliveries, retries FROM durable_queue AS q, durable_take_turns(q.id, 9, NULL, 900, 0, true)"
    assert queue.run(turns) == [(None, 0, 1)]


def test_a_line_that_somebody_had_is_not_tried_again_in_a_claim(queue: Limited) -> None:
    """Who comes later would pass who was left."""
    queue.limit("1/h", task="t")
    queue.send("one")
    [(message, limit_id)] = queue.run("SELECT r.id, l.id FROM durable_ready AS r, durable_limit AS l")
    admit = "SELECT starts_at, busy FROM durable_queue AS q, durable_admit(q.id, %s, '', 1, 0::smallint, %s)"
    assert queue.run(admit, (message, [f"{limit_id} "])) == [(None, [f"{limit_id} "])]
    assert queue.run(admit, (message, [])) != [(None, [])]


def test_transactions_that_stay_open_stop_no_claim(broker: Broker, queue: Limited) -> None:
    publisher, operator = (Limited(broker, autocommit=False) for _ in range(2))
    queue.limit("1/h", task="t")
    queue.send("t0", "t1", "t2")
    publisher.send("late")
    operator.limit("10000/s", 100, task="t")
    operator.limit("1/h", task="u")
    queue.send("u0", "u1", task="u")
    assert queue.tasks() == ["t0", "u0", "u1"]
    queue.later(HOUR)
    queue.poll()
    assert queue.tasks() == ["t1"]
    operator.connection.commit()
    publisher.connection.commit()
    queue.later(HOUR)
    queue.poll()
    assert queue.tasks() == ["t2", "late"]


def test_behind_an_old_snapshot_a_start_reads_the_last_one_only(broker: Broker, queue: Limited) -> None:
    old = Limited(broker, autocommit=False)
    old.connection.set_session(isolation_level="REPEATABLE READ")
    old.run("SELECT 1 FROM durable_ready")
    queue.limit("10000/s", 10_000)
    queue.send(*(f"{number}" for number in range(3200)))
    claim = "SELECT durable_claim('main', 1, NULL, 900, %s, 0)"
    early = pages(queue.connection, claim, (queue.turns()[0][0],))
    while len(queue.turns()) > 50:
        queue.claim(50)
    assert pages(queue.connection, claim, (queue.turns()[0][0],)) < early + 25


def sent(broker: Broker, number: int) -> None:
    for one in range(number):
        broker.send("nothing", task_id=f"n{one}")


def test_a_node_comes_by_itself_when_the_next_one_may_start(broker: Broker, queue: Limited, taker: Take) -> None:
    queue.limit("20/s", task=f"{PREFIX}.nothing")
    sent(broker, 12)
    for message in taker(**NO_POLL).take(10):
        message.ack()


def acknowledge(taker: Taker) -> int:
    done = len(taker.got)
    while taker.got:
        taker.got.pop().ack()
    return done


@pytest.mark.parametrize(("room", "claims"), [(1, True), (0, False)])
def test_when_the_next_one_may_start_a_node_claims_or_without_room_polls(room: int, claims: bool) -> None:
    reader: Any = Reader(Options(), SQL, cast("Session", None))
    reader.add("main")
    reader.took(Claim("main", 9, 1, monotonic(), "", {}), [(None, None, None, 0, None, None, None, 0)])
    reader._first_looks, reader.poll_at, reader.watch_at = 0, inf, inf
    assert reader.may_claim(room) == claims
    assert reader.look_due() != claims
    assert (reader.patience() == 0) != claims
    assert not reader.may_claim(0)


def test_a_node_comes_less_and_less_soon_while_somebody_else_has_a_line_and_it_starts_nothing() -> None:
    position = QueuePosition()
    for pause in (0.003, 0.006, 0.012, 0.02, 0.02):
        before = monotonic()
        position.settle(0, -1)
        assert before + pause <= position.wake_at <= monotonic() + pause
    position.settle(0, 0)
    position.settle(0, -1)
    assert position.wake_at <= monotonic() + 0.003


def test_a_node_that_is_full_lets_another_one_start_the_next(broker: Broker, queue: Limited, taker: Take) -> None:
    full, free = taker(prefetch=1, **NO_POLL), taker(**NO_POLL)
    wait_for(
        lambda: (
            [node.look(0.01) for node in (full, free)] and queue.run("SELECT count(queues) FROM kombu_node") == [(2,)]
        )
    )
    limit(queue.connection, "main", "20/s", task=f"{PREFIX}.nothing")
    sent(broker, 1)
    wait_for(lambda: full.look(0.05) or full.got, "the first message")
    sent(broker, 8)
    others = 0

    def turn() -> int:
        nonlocal others
        full.look(0.01)
        free.look(0.01)
        others += acknowledge(free)
        return others

    wait_for(lambda: turn() >= 7, "the messages that the full node has no room for", seconds=30)
    assert len(full.got) == 1


def test_a_node_that_sleeps_hears_of_a_limit_that_is_gone(broker: Broker, queue: Limited, taker: Take) -> None:
    queue.limit("1/h", task=f"{PREFIX}.nothing")
    node = taker(**NO_POLL)
    sent(broker, 4)
    assert len(node.take(1)) == 1
    wait_for(lambda: node.look(0.05) or len(queue.waiting()) == 3)
    unlimit(queue.connection, "main", task=f"{PREFIX}.nothing")
    assert len(node.take(3)) == 3


def test_workers_keep_a_limit_while_one_of_them_is_killed(broker: Broker) -> None:
    made: Any = Limited(broker)
    broker.declare("main")
    made.run(NOTE_STARTS)
    made.limit("15/s", 2, task=f"{PREFIX}.work")
    workers = [broker.worker("-c", "2") for _ in range(2)]
    for number in range(60):
        broker.send("work", task_id=f"w{number}", headers={"tenant": f"{number % 3}"})
    for number in range(20):
        broker.send("nothing", task_id=f"n{number}")
    wait_for(lambda: broker.ended() >= 10, "some runs")
    workers[0].kill_tree()
    wait_for(lambda: broker.left() == 0, "the end of all")
    assert broker.value("SELECT count(DISTINCT task_id) FROM runs WHERE what = 'end'") == 60
    starts = broker.query("SELECT at, id FROM starts ORDER BY at")
    limited = {number for (number,) in broker.query("SELECT DISTINCT id FROM starts ORDER BY id LIMIT 60")}
    assert len(limited) == 60
    assert too_many([at for at, number in starts if number in limited], 15, 2) == []


def test_what_a_claim_puts_in_the_line_of_a_removed_limit_is_woken(broker: Broker, queue: Limited) -> None:
    """The limit was removed in a transaction that stayed open, and all that knew it seemed to be over."""
    queue.limit("1/h", task="t")
    with broker.connect() as operator, broker.connect() as claimer, operator.cursor() as removes:
        removes.execute("SELECT broker_unlimit('main', task => 't')")
        removes.execute("UPDATE durable_limit SET changed_at = changed_at - interval '16 s'")
        queue.send("first", "second", "third")
        with claimer.cursor() as claims:
            claims.execute("SELECT message_id FROM durable_claim('main', 3, NULL, 900, 0, 0) WHERE message_id > 0")
            assert len(claims.fetchall()) == 1
        operator.commit()
        queue.poll()
        assert queue.run("SELECT has_limits FROM durable_queue WHERE name = 'main'") == [(False,)]
        claimer.commit()
    operator.close()
    claimer.close()
    assert len(queue.waiting()) == 2
    queue.poll()
    assert {one.task for one in queue.claim(3)} == {"second", "third"}
    queue.run("UPDATE durable_line SET next_at = '-infinity'")
    queue.poll()
    assert queue.run("SELECT count(*) FROM durable_line") == [(0,)]
