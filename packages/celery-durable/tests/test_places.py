"""A row that was changed just before a statement got its lock has another place, which that statement does not see."""

from collections.abc import Iterator
from contextlib import ExitStack

import pytest
from durable_harness.broker import Broker
from durable_harness.sessions import Sessions

GATE = 7
#: function -> where it looks for what it locks, what it is called by, and what changes a row meanwhile.
LOOKS = {
    "a move of what waits": (
        "broker_move", "WHERE w.queue_id = old AND", "SELECT broker_move('ann', 'main', 'other')",
        "UPDATE durable_waiting SET due_at = due_at - interval '1 s'",
    ),
    "a move of what is ready": (
        "broker_move", "WHERE r.queue_id = old AND", "SELECT broker_move('ann', 'main', 'other')",
        "UPDATE durable_ready SET rank = rank + 1",
    ),
    "what is due": (
        "durable_promote", "WHERE w.queue_id = which AND w.due_at", "SELECT durable_promote(1, '-infinity', 'infinity', true, 9)",
        "UPDATE durable_waiting SET due_at = due_at - interval '1 s'",
    ),
    "a park": (
        "durable_park", "WHERE r.queue_id = which AND", "SELECT broker_park('main', 'ann', 60)",
        "UPDATE durable_ready SET rank = rank + 1",
    ),
    "a claim": (
        "durable_take", "WHERE n.queue_id = which AND", "SELECT count(*) FROM durable_claim('main', 9, NULL, 60, 0, 0)",
        "UPDATE durable_ready SET rank = rank + 1",
    ),
}  # fmt: skip
STATES = """
    SELECT m.task_id, array_agg(s.state ORDER BY s.state), bool_and(s.queue_id = m.queue_id)
      FROM durable_message AS m JOIN (
           SELECT id, queue_id, 'ready' AS state FROM durable_ready
           UNION ALL SELECT id, queue_id, 'leased' FROM durable_lease
           UNION ALL SELECT id, queue_id, 'waiting' FROM durable_waiting) AS s ON s.id = m.id
     GROUP BY m.id ORDER BY m.id"""


@pytest.fixture
def sessions(broker: Broker) -> Iterator[Sessions]:
    broker.query("INSERT INTO durable_queue (name) VALUES ('main'), ('other')")
    with ExitStack() as stack:
        yield Sessions(broker, stack)


def wait_at_a_gate(broker: Broker, function: str, look: str) -> None:
    """Let a function wait once its statement has its snapshot, and before it locks anything."""
    text = broker.value("SELECT pg_get_functiondef(to_regproc(%s))", function)
    assert text.count(look) >= 1
    broker.query(text.replace(look, f"WHERE (SELECT true FROM pg_advisory_xact_lock({GATE})) AND {look[6:]}"))


@pytest.mark.parametrize(("function", "look", "statement", "change"), LOOKS.values(), ids=LOOKS)
def test_a_message_stays_in_one_state_though_its_row_gets_another_place_meanwhile(
    sessions: Sessions, function: str, look: str, statement: str, change: str
) -> None:
    sessions.publish("one", "two", tenant="ann")
    sessions.publish("three", "four", tenant="ann", delay=0.001)
    wait_at_a_gate(sessions.broker, function, look)
    keeper, late = sessions.session(), sessions.session()
    keeper.run(f"SELECT pg_advisory_lock({GATE})")
    keeper.commit()
    done = sessions.waits(late, statement)
    keeper.run(change)
    keeper.commit()
    keeper.run(f"SELECT pg_advisory_unlock({GATE})")
    keeper.commit()
    done.result()
    late.commit()
    assert [(len(states), is_there) for _, states, is_there in sessions.broker.query(STATES)] == [(1, True)] * 4
