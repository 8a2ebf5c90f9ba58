"""What else may happen to a message that waits for a limit, and to the limit itself."""

from __future__ import annotations

from contextlib import closing
from typing import Any

import psycopg2
import pytest
from celery_durable import schema
from celery_durable.errors import UnknownQueue
from celery_durable.facts import group_facts, queue_facts
from celery_durable.limits import Limit, limit, list_limits, unlimit
from durable_harness.broker import Broker
from durable_harness.limited import POLL, Limited

HOUR = 3600


@pytest.fixture
def queue(broker: Broker) -> Limited:
    """`started` is leased, `waits` and `last` wait for the next two hours."""
    made = Limited(broker)
    made.add_queue()
    made.add_queue("other")
    made.limit("1/h", task="t")
    made.send("started", "waits", "last", tenant="ann")
    assert made.tasks() == ["started"]
    return made


def test_what_waits_is_shown_and_counted_with_what_is_delayed(queue: Limited) -> None:
    assert queue.waiting() == ["waits", "last"]
    shown = (
        "SELECT task_id, is_ready, ready_at, delay_reason, rank, lease_token FROM broker_message WHERE task_id = 'last'"
    )
    assert queue.run(shown) == [("last", False, None, "limited", None, None)]
    assert queue.run("SELECT reason, due_at FROM broker_waiting") == [("limited", None)] * 2
    [facts, _] = queue_facts(queue.connection)
    assert (facts.ready, facts.leased, facts.delayed, facts.parked, facts.estimated) == (0, 1, 2, 0, [])
    [of_ann] = group_facts(queue.connection, "main", group="ann")
    assert (of_ann.ready, of_ann.leased, of_ann.delayed, of_ann.parked) == (0, 1, 2, 0)


def test_what_is_to_be_cancelled_starts_at_once_and_counts_for_nothing(queue: Limited) -> None:
    queue.run("SELECT broker_request_cancel('waits')")
    assert queue.tasks() == ["waits"]
    queue.later(HOUR)
    assert queue.tasks() == ["last"]


#: Each takes `waits` away from the queue.
ENDS = {
    "revoke": "SELECT durable_revoke('{waits}')",
    "delete": "SELECT broker_delete('waits')",
    "delete by the view": "DELETE FROM broker_message WHERE task_id = 'waits' AND lease_token IS NULL",
    "regroup": "SELECT broker_regroup('waits', 'bob', 'other', NULL, 100, 30)",
}


@pytest.mark.parametrize("is_woken", [False, True], ids=["waiting", "woken"])
@pytest.mark.parametrize("act", ENDS.values(), ids=ENDS)
def test_when_the_next_one_is_gone_the_one_after_it_starts(queue: Limited, act: str, is_woken: bool) -> None:
    queue.later(HOUR)
    if is_woken:
        queue.poll()
        assert queue.ready() == ["waits"]
    queue.run(act)
    assert "waits" not in queue.waiting()
    assert queue.astray() == []
    queue.later(2)  # if one was woken: what became of it is looked at again
    assert queue.tasks() == ["last"]
    queue.later(HOUR)
    assert queue.tasks() == []
    assert queue.tasks(queue="other") == (["waits"] if "regroup" in act else [])


def test_of_what_is_woken_and_not_claimed_nobody_comes_too_many(queue: Limited) -> None:
    """However long the workers are busy, as many start then as might start at once."""
    queue.send(*"abcdefgh", tenant="ann")
    assert queue.tasks() == []
    for _ in range(10):
        queue.later(HOUR)
        queue.poll()
    assert queue.ready() == ["waits"]
    assert len(queue.claim(20)) == 1


def test_a_purge_takes_what_waits_and_a_fresh_one_starts_then(queue: Limited) -> None:
    assert queue.run("SELECT durable_purge('main')") == [(2,)]
    queue.later(HOUR)
    queue.send("fresh")
    assert queue.tasks() + queue.tasks() == ["fresh"]
    assert queue.astray() == []


def test_a_tenant_that_moves_leaves_the_line(queue: Limited) -> None:
    queue.send("ready", task="u", tenant="ann")
    queue.run("SELECT broker_move('ann', 'main', 'other')")
    assert queue.waiting() == []
    assert queue.astray() == []
    assert queue.tasks(queue="other") == ["waits", "last", "ready"]
    queue.send("bob", tenant="bob")
    queue.later(HOUR)
    assert queue.tasks() == ["bob"]


def test_a_tenant_that_is_parked_keeps_its_place_in_the_line(queue: Limited) -> None:
    queue.run("SELECT broker_park('main', 'ann', 30)")
    queue.send("parked", tenant="ann")
    queue.later(HOUR)
    assert queue.tasks() == ["waits"]
    assert queue.run("SELECT task_id FROM broker_message WHERE delay_reason = 'parked'") == [("parked",)]
    queue.later(HOUR)
    queue.poll()
    queue.run("SELECT broker_park('main', 'ann', 30)")
    assert queue.run("SELECT count(*) FROM broker_waiting WHERE reason = 'parked'") == [(2,)]
    queue.send("bob", tenant="bob")
    queue.later(2)
    assert queue.tasks() == ["bob"]  # nobody holds up the line who waits for something else


def test_what_is_held_is_left_out_and_the_next_one_starts(queue: Limited) -> None:
    web = Limited(queue.broker, autocommit=False)
    web.run("SELECT broker_hold('waits')")
    queue.later(HOUR)
    assert queue.tasks() == ["last"]
    web.connection.rollback()
    queue.later(HOUR)
    assert queue.tasks() == ["waits"]


def test_what_is_held_when_it_is_woken_stops_its_line_for_two_seconds(queue: Limited) -> None:
    queue.later(HOUR)
    queue.poll()
    assert queue.ready() == ["waits"]
    web = Limited(queue.broker, autocommit=False)
    web.run("SELECT broker_hold('waits')")
    assert queue.tasks() == []
    queue.later(2)
    assert queue.tasks() == ["last"]
    web.connection.rollback()
    assert queue.tasks() == []
    assert queue.waiting() == ["waits"]  # it meets its limit again


@pytest.mark.parametrize("how", ["died", "requeue", "returned"])
def test_who_comes_back_counts_again(queue: Limited, how: str) -> None:
    [(message, token)] = queue.run("SELECT id, token::text FROM durable_lease")
    queue.run("SELECT durable_give_back(%s, %s::uuid[], %s)", ([message], [token], how))
    assert queue.tasks() == []
    assert sorted(queue.waiting()) == ["last", "started", "waits"]
    for _ in range(3):
        queue.later(HOUR)
        assert len(queue.tasks()) == 1


def test_a_retry_and_what_is_due_count_when_they_start(queue: Limited) -> None:
    [(task, token)] = queue.run("SELECT task_id, token::text FROM durable_lease JOIN durable_message USING (id)")
    body = '{"headers": {"task": "t"}}'
    queue.run("SELECT durable_retry(%s, %s, 'main', %s, NULL, false, false, 0, 'main')", (task, token, body))
    queue.run("SELECT durable_publish('main', %s, 'due', 'bob', NULL, 0, 100, 'main')", (body,))
    queue.poll()
    assert sorted(queue.ready()) == ["due", "started"]
    assert queue.tasks() == []
    order = []
    for _ in range(4):
        queue.later(HOUR)
        order += queue.tasks()
    assert (sorted(order), order[0]) == (["due", "last", "started", "waits"], "waits")


def test_a_write_by_kombus_name_lets_it_meet_its_limit_again(queue: Limited) -> None:
    with closing(queue.broker.connect()) as connection, connection:
        schema.add_stock_names(connection)
    queue.run("UPDATE kombu_message SET enqueued_at = now() WHERE task_id = 'waits'")
    assert queue.ready() == ["waits"]
    assert queue.tasks() == []
    assert queue.waiting() == ["last", "waits"]


def test_the_lease_of_version_7_gives_nothing_of_a_queue_with_limits(queue: Limited) -> None:
    queue.send("ready", task="u")
    lease = "SELECT l.* FROM durable_queue AS q, kombu_message_lease(q.id, 5, NULL, 900, 0) AS l WHERE q.name = %s"
    assert queue.run(lease, ("main",)) == []
    queue.send("elsewhere", queue="other")
    assert len(queue.run(lease, ("other",))) == 1


@pytest.mark.parametrize("level", ["REPEATABLE READ", "SERIALIZABLE"])
def test_a_claim_that_would_not_see_the_starts_of_others_is_refused(queue: Limited, level: str) -> None:
    other = Limited(queue.broker, autocommit=False)
    other.connection.set_session(isolation_level=level)
    for call in ("durable_claim('main', 5, NULL, 900, 0, 0)", "durable_poll('{main}', NULL, true, NULL, 4)"):
        with pytest.raises(psycopg2.errors.ObjectNotInPrerequisiteState, match="READ COMMITTED transaction"):
            other.run(f"SELECT {call}")
        other.connection.rollback()
    assert other.run("SELECT * FROM durable_claim('other', 5, NULL, 900, 0, 0)") == []


def test_a_worker_of_version_7_keeps_the_limit(queue: Limited) -> None:
    claim = "SELECT count(message_id) FROM kombu_message_claim('main', 5, NULL, 900, 0, 0)"
    assert queue.run(claim) == [(0,)]
    queue.later(HOUR)
    assert queue.run(claim) == [(1,)]


def test_who_waits_for_a_limit_that_is_removed_starts(queue: Limited) -> None:
    queue.send(*(f"{number}" for number in range(700)), tenant="bob")
    while queue.ready():
        assert queue.tasks() == []
    assert unlimit(queue.connection, "main", task="t")
    queue.send("fresh")
    assert queue.tasks(1) == ["fresh"]
    queue.poll()
    assert len(queue.waiting()) == 202
    queue.poll()
    assert sorted(queue.tasks(1000)) == sorted(["waits", "last", *(f"{number}" for number in range(700))])
    queue.run("UPDATE durable_limit SET changed_at = changed_at - interval '1 min'")
    queue.poll()
    left = "SELECT (SELECT count(*) FROM durable_limit), (SELECT count(*) FROM durable_line), bool_or(has_limits)"
    assert queue.run(f"{left} FROM durable_queue") == [(0, 0, False)]


def test_a_claim_that_knows_a_removed_limit_still_loses_no_message(queue: Limited) -> None:
    """It puts one in a line after the look of a poll, so the limit stays for longer than a claim may take."""
    unlimit(queue.connection, "main", task="t")
    for _ in range(3):
        queue.poll()
    assert queue.run("SELECT seconds FROM durable_limit") == [(0.0,)]
    assert queue.run("SELECT has_limits FROM durable_queue WHERE name = 'main'") == [(True,)]


def test_a_limit_that_is_changed_is_known_at_once_by_who_waits(queue: Limited) -> None:
    """The clock of the old one, an hour ahead, is never further ahead than the new one lets it be."""
    limit(queue.connection, "main", "36000/h", task="t", burst=5)
    queue.poll()
    queue.later(0.2)
    assert queue.tasks() == ["waits", "last"]
    assert queue.run("SELECT changed_at FROM durable_limit") == [(None,)]


def test_a_burst_that_is_lowered_leaves_no_time_of_the_larger_one(queue: Limited) -> None:
    queue.limit("1/m", 30, task="u")
    queue.send(*(f"u{number}" for number in range(32)), task="u")
    assert len(queue.tasks()) == 30
    queue.limit("10/s", task="u")
    queue.poll()
    queue.later(0.2)
    assert queue.tasks() == ["u30", "u31"]


@pytest.mark.parametrize("waits", [True, False])
def test_a_clock_of_the_server_that_is_set_back_stops_no_line(queue: Limited, waits: bool) -> None:
    if not waits:
        assert queue.run("SELECT durable_purge('main')") == [(2,)]
        queue.later(0)
    queue.run("UPDATE durable_line SET next_at = next_at + interval '10 d', wake_at = wake_at + interval '10 d'")
    queue.poll()
    queue.send("fresh")
    assert queue.tasks() == []
    queue.later(HOUR)
    assert queue.tasks() == ["waits" if waits else "fresh"]


def test_a_limit_that_is_removed_and_set_again_knows_nothing(queue: Limited) -> None:
    assert unlimit(queue.connection, "main", task="t")
    limit(queue.connection, "main", "1/h", task="t")
    queue.send("fresh")
    assert queue.tasks() == ["fresh"]
    queue.poll()
    assert queue.tasks() == []
    for _ in range(2):
        queue.later(HOUR)
        queue.poll()
        queue.tasks()
    assert queue.waiting() == queue.ready() == []
    assert len(list_limits(queue.connection)) == 1


def test_a_tenant_that_is_forgotten_is_in_no_limit(queue: Limited) -> None:
    queue.limit("1/h", per_tenant=True)
    queue.limit("1/h", 5, tenant="bob")
    queue.send("bob", task="u", tenant="bob")
    assert queue.tasks() == ["bob"]
    [(message, token)] = queue.run("SELECT id, token::text FROM durable_lease ORDER BY id DESC LIMIT 1")
    queue.run("SELECT durable_settle(ARRAY[%s::bigint], ARRAY[%s]::uuid[], '{}', '{}', '{}', false)", (message, token))
    queue.run("SELECT broker_forget('bob')")
    assert queue.run("SELECT tenant FROM broker_limit WHERE tenant <> ''") == []
    assert queue.run("SELECT tenant FROM durable_line WHERE tenant <> ''") == []
    queue.run("UPDATE durable_limit SET changed_at = changed_at - interval '1 min'")
    queue.poll()
    assert queue.run("SELECT tenant FROM durable_limit WHERE tenant IS NOT NULL") == []


def test_the_same_limit_again_changes_nothing(queue: Limited) -> None:
    before = queue.run("SELECT * FROM durable_line")
    limit(queue.connection, "main", "1/h", task="t")
    queue.poll()
    assert queue.run("SELECT * FROM durable_line") == before


def test_limits_are_listed_by_queue(queue: Limited) -> None:
    limit(queue.connection, "other", 2.5, tenant="", burst=7)
    limit(queue.connection, "other", "6/m", per_tenant=True)
    ours = [Limit("main", "t", None, False, pytest.approx(1 / HOUR), 1, 2)]
    theirs = [Limit("other", None, "", False, 2.5, 7, 0), Limit("other", None, None, True, pytest.approx(0.1), 1, 0)]
    assert list_limits(queue.connection) == ours + theirs
    assert list_limits(queue.connection, "other") == theirs
    assert not unlimit(queue.connection, "other", tenant="ann")
    assert unlimit(queue.connection, "other", tenant="")
    assert list_limits(queue.connection, "other") == theirs[1:]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        *(({"rate": rate}, "a rate is 10/s, 100/m, 5/h or a number of starts per second, and more than 0")
          for rate in ("", "x", "0", "0/m", "-1", -1.5, "1/d", "10/", "1e9", "nan", float("nan"), float("inf"), True,
                       "1/s/s")),
        ({"rate": "20000/s"}, "at most 10000 a second"), ({"rate": "0.00001/h"}, "at least one a year"),
        ({"burst": 0}, "burst is a whole number from 1 to 10000, not 0"), ({"burst": 10001}, "not 10001"),
        ({"burst": 2**40}, "not 1099511627776"), ({"tenant": "t" * 501}, "has at most 500 characters"),
        ({"task": "é" * 501}, "has at most 500 characters"),
        ({"tenant": "ann", "per_tenant": True}, "of one tenant, or of each by itself, not both"),
        ({"task": ""}, "the name of a task is empty"),
    ],
)  # fmt: skip
def test_what_is_no_limit_is_refused_with_a_sentence(queue: Limited, given: dict[str, Any], said: str) -> None:
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match=said):
        limit(queue.connection, "main", **{"rate": "1/s", **given})
    assert len(list_limits(queue.connection)) == 1


@pytest.mark.parametrize("burst", [2.5, "5", True, None])
def test_a_burst_that_is_no_whole_number_is_refused_with_a_sentence(queue: Limited, burst: Any) -> None:
    with pytest.raises(ValueError, match=f"burst is a whole number from 1 to 10000, not {burst!r}"):
        limit(queue.connection, "main", "1/s", burst=burst)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ("rate => NULL::text", "more than 0, not NULL"), ("rate => '1/s', burst => NULL", "to 10000, not NULL"),
        ("rate => '1/s', burst => 2.5", "to 10000, not 2.5"), ("rate => '1/s', burst => 1099511627776", "not 10995116"),
        ("rate => 'NaN'::float8", "not NaN"), ("rate => 'Infinity'::float8", "not Infinity"),
    ],
)  # fmt: skip
def test_what_is_no_limit_is_refused_in_sql_too(queue: Limited, given: str, said: str) -> None:
    with pytest.raises(psycopg2.errors.InvalidParameterValue, match=said):
        queue.run(f"SELECT broker_limit('main', {given})")


@pytest.mark.parametrize(
    ("given", "rate"),
    [
        (1 / 3, 1 / 3), (10 / 3, 10 / 3), (0.1 + 0.2, 0.3), (1e-05, 1e-05), (2, 2), ("10/S", 10), ("+5/s", 5),
        ("0.33333333333333333333/m", 1 / 180),
    ],
)  # fmt: skip
def test_a_rate_may_have_any_number_of_decimals(queue: Limited, given: float | str, rate: float) -> None:
    limit(queue.connection, "main", given, tenant="long" * 125)
    assert list_limits(queue.connection)[-1].rate == pytest.approx(rate, rel=0.001)


def test_a_rate_may_be_a_number_in_sql(queue: Limited) -> None:
    for rate in ("10", "2.5", "1e-05", "0.25::float8"):
        queue.run(f"SELECT broker_limit('other', {rate}, 'task {rate}')")
    assert [one.rate for one in list_limits(queue.connection, "other")] == pytest.approx([10, 2.5, 1e-05, 0.25])


def test_a_queue_that_is_not_there_has_no_limit(queue: Limited) -> None:
    with pytest.raises(UnknownQueue):
        limit(queue.connection, "none", "1/s")
    with pytest.raises(psycopg2.errors.ForeignKeyViolation, match="there is no queue none"):
        queue.run("SELECT broker_limit('none', '1/s')")
    assert not unlimit(queue.connection, "none")


def test_a_paused_queue_wakes_nobody_until_it_is_resumed(queue: Limited) -> None:
    queue.run("SELECT broker_pause('main')")
    queue.later(HOUR)
    queue.run(POLL)
    assert queue.ready() == queue.tasks() == []
    queue.run("SELECT broker_resume('main')")
    assert queue.tasks() == ["waits"]
