"""Many messages by one statement: what becomes of each, and what the statement need not do."""

import json
from contextlib import closing
from typing import Any
from uuid import UUID

import psycopg2
import pytest
from celery_durable import DuplicateKey
from celery_durable.database import runner
from celery_durable.envelope import Letter
from celery_durable.publish import put, put_many
from celery_durable.statements import cached_statements
from celery_durable.template import Template, send_many
from durable_harness.broker import PREFIX, Broker
from kombu.serialization import register, register_json
from psycopg2.errors import UniqueViolation
from psycopg2.extensions import cursor as Cursor  # noqa: N812  psycopg2 names its classes so

HEADERS = ("tenant", "weight", "unique_key")
#: task, and of its letter what differs from those of a plain one
MIXED: tuple[tuple[str, dict[str, Any]], ...] = (
    ("a", {"tenant": "ann"}), ("b", {"tenant": "ben", "step": 50}), ("c", {}), ("d", {"tenant": "ann", "priority": 9}),
    ("e", {"tenant": "ann", "delay": 600.0}), ("f", {"tenant": "ben", "step": 25}), ("g", {"tenant": ""}),
    ("h", {"tenant": "pat"}), ("i", {"tenant": "ben", "unique_key": "held"}), ("j", {"priority": 99}),
    ("k", {"tenant": "pat", "delay": 300.0, "priority": 2}), ("l", {"tenant": "ann", "step": 1000}), ("m", {}),
    ("n", {"tenant": "ben"}), ("o", {"tenant": "ann"}), ("p", {"tenant": "pat"}), ("there", {"tenant": "ann"}),
)  # fmt: skip
ROWS = """
    SELECT right(m.task_id, -5), m.tenant, m.step, m.priority, r.priority, w.priority, m.payload,
           r.rank - (SELECT min(rank) FROM durable_ready AS head WHERE head.queue_id = m.queue_id), w.reason,
           round(extract(epoch FROM w.due_at - m.enqueued_at))
      FROM durable_message AS m LEFT JOIN durable_ready AS r USING (id) LEFT JOIN durable_waiting AS w USING (id)
     WHERE m.task_id LIKE %s ORDER BY m.id"""


class Counting:
    """A runner, and how many statements it ran."""

    def __init__(self, connection: Any) -> None:
        self.right, self.statements = runner(connection), 0

    def __call__(self, statement: str, parameters: Any) -> list[Any]:
        self.statements += 1
        return self.right(statement, parameters)


def letter(queue: str, task: str, **said: Any) -> Letter:
    empty: dict[str, Any] = dict.fromkeys(Letter._fields)
    plain = {**empty, "step": 100, "snooze": False, "park": False, "is_retry": False, "replaces": False, "priority": 0}
    return Letter(**{**plain, "queue": queue, "payload": json.dumps({"of": task[-1]}), "task_id": task, **said})


def mixed(broker: Broker, queue: str, at_once: bool) -> list[Any]:
    """Store MIXED on a queue where one tenant is parked, one task is there, and a message shows the head."""
    sql = cached_statements(None)
    with closing(broker.connect()) as connection:
        run = runner(connection)
        run("SELECT durable_queue_add(%(queue)s)", {"queue": queue})
        for task, tenant in (("head", "zed"), (f"{queue} there", "ann")):
            put(run, sql, letter(queue, task if task != "head" else f"head {queue}", tenant=tenant))
        run("SELECT durable_park(%(queue)s, 'pat', 900)", {"queue": queue})
        connection.commit()
        letters = [letter(queue, f"{queue} {task}", **said) for task, said in MIXED]
        letters = [one._replace(unique_key=one.unique_key and f"{one.unique_key} {queue}") for one in letters]
        if at_once:
            put_many(run, sql, letters)
        else:
            for one in letters:
                put(run, sql, one)
        connection.commit()
    return broker.query(ROWS, f"{queue} %%")


def test_a_mixed_batch_is_stored_as_if_each_message_were_sent_alone(broker: Broker) -> None:
    alone, together = mixed(broker, "each", at_once=False), mixed(broker, "many", at_once=True)
    assert [row[0] for row in alone] == ["there", *(task for task, _ in MIXED if task != "there")]
    assert [row[8] for row in alone].count("parked") == 2
    assert [row[8] for row in alone].count("eta") == 2
    assert together == alone


def test_what_conflicts_or_has_no_queue_is_left_out_and_its_place_is_said(broker: Broker) -> None:
    sql = cached_statements(None)
    with closing(broker.connect()) as connection:
        run = runner(connection)
        run("SELECT durable_queue_add('main')", {})
        put_many(run, sql, [letter("main", "held", unique_key="k"), letter("main", "one")])
        places = run(
            "SELECT durable_publish_many(%(queues)s, %(tasks)s, %(tasks)s, '{}', %(keys)s::text[], '{}', %(steps)s)",
            {
                "queues": ["main", "none", "main", "main", "main", "none", "main"],
                "tasks": ["a", "b", "one", "c", "d", "e", "a"],
                "keys": [None, None, None, "k", None, None, None],
                "steps": [100] * 7,
            },
        )
        connection.commit()
    assert places == [(2,), (3,), (4,), (6,), (7,)]
    stored = broker.query("SELECT task_id, payload FROM durable_message JOIN durable_ready USING (id) ORDER BY rank")
    assert [task for task, _ in stored] == ["held", "one", "a", "d"]
    assert stored[2:] == [("a", "a"), ("d", "d")]


def test_an_upgraded_database_says_to_version_7_what_was_stored(broker: Broker) -> None:
    with closing(broker.connect()) as connection:
        run = runner(connection)
        run("SELECT durable_queue_add('main')", {})
        put(run, cached_statements(None), letter("main", "there"))
        connection.commit()
    stored = broker.query("""
        SELECT stored_task, stored_queue FROM kombu_message_publish_many(
            '{main,main,none,main}', '{"{}","{}","{}","{}"}', '{a,there,b,c}', '{}', '{}', '{}', '{100,100,100,100}')""")
    assert sorted(stored) == [("a", "main"), ("c", "main")]


def test_new_messages_one_of_which_is_there_all_the_same_are_not_stored(broker: Broker) -> None:
    sql = cached_statements(None)
    with closing(broker.connect()) as connection:
        run = runner(connection)
        put_many(run, sql, [letter("main", "one"), letter("main", "two")])
        connection.commit()
        with pytest.raises(UniqueViolation):
            put_many(run, sql, [letter("main", "three"), letter("main", "two")], are_new=True)
        connection.rollback()
        put_many(run, sql, [letter("main", "three"), letter("main", "two")])
        connection.commit()
    assert broker.query("SELECT task_id FROM durable_message ORDER BY id") == [("one",), ("two",), ("three",)]


class Texts(Cursor):
    """Keeps what it sent."""

    sent: list[str] = []  # noqa: RUF012  of the one test that reads it

    def execute(self, *arguments: Any) -> None:
        super().execute(*arguments)
        Texts.sent.append(bytes(self.query or b"").decode())


def test_send_many_has_no_conflict_looked_for_unless_its_messages_hold_a_key(broker: Broker) -> None:
    holder = broker.send("work", headers={"unique_key": "k"})
    Texts.sent.clear()
    with closing(psycopg2.connect(broker.url, cursor_factory=Texts)) as connection:
        send_many(connection, broker.app, f"{PREFIX}.work", [((n,), {}) for n in range(3)])
        [sent] = [text for text in Texts.sent if "publish_many" in text]
        assert sent.rstrip().endswith("false)")
        with pytest.raises(DuplicateKey) as met:
            send_many(connection, broker.app, f"{PREFIX}.work", [((), {})] * 2, headers={"unique_key": "k"})
    assert met.value.task_id == holder


def test_the_messages_of_a_new_queue_take_a_few_statements_not_one_each(broker: Broker) -> None:
    with closing(broker.connect()) as connection:
        run = Counting(connection)
        put_many(run, cached_statements(None), [letter(f"new{n % 2}", f"t{n}", tenant="ann") for n in range(40)])
        connection.commit()
    assert run.statements <= 6
    for parity in (0, 1):
        ranked = broker.query(
            "SELECT task_id FROM durable_message JOIN durable_ready AS r USING (id)"
            " JOIN durable_queue AS q ON q.id = r.queue_id WHERE q.name = %s ORDER BY rank", f"new{parity}",
        )  # fmt: skip
        assert ranked == [(f"t{n}",) for n in range(parity, 40, 2)]


@pytest.mark.parametrize("driver", ["psycopg2", "psycopg"])
def test_every_argument_arrives_as_it_was_given(broker: Broker, driver: str) -> None:
    """Payloads travel as lines of one text."""
    module = pytest.importorskip(driver)
    arguments = [
        "a\nb",
        "\r\n\\n\\",
        "é\u2028\u0085\x0b\x1e",
        "'$x$%s {\"a\": 1}'",
        "",
        "NULL",
        None,
        ["\n"],
        b"\n\xff",
    ]
    options = {"headers": {"tenant": 'a\nb",\\{}'}}
    with closing(module.connect(broker.url)) as connection:
        ids = send_many(
            connection, broker.app, f"{PREFIX}.work", [((one,), {"n": one}) for one in arguments], **options
        )
        connection.commit()
    found = {
        task: json.loads(json.loads(payload)["body"])
        for task, tenant, payload in broker.query("SELECT task_id, tenant, payload FROM durable_message")
        if tenant == options["headers"]["tenant"]
    }
    wanted = [*arguments[:-1], {"__type__": "base64", "__value__": "Cv8="}]
    assert {UUID(task).version for task in ids} == {4}
    assert [found[task][:2] for task in ids] == [[[one], {"n": one}] for one in wanted]


def test_a_template_says_what_kombu_says_of_arguments_that_are_no_json(broker: Broker) -> None:
    template = Template(broker.app, f"{PREFIX}.work", {})
    with pytest.raises(Exception, match="not JSON serializable") as alone:
        broker.app.send_task(f"{PREFIX}.work", (object(),))
    with pytest.raises(type(alone.value), match="not JSON serializable"):
        template.fill("one", (object(),), {})


def test_a_template_uses_the_encoder_that_is_registered_as_json(broker: Broker) -> None:
    register("json", lambda data: json.dumps(data, separators=(",", ":")), json.loads, "application/json", "utf-8")
    try:
        filled = Template(broker.app, f"{PREFIX}.work", {}).fill("one", ("low",), {})
    finally:
        register_json()
    assert json.loads(filled.payload)["body"].startswith('[["low"],{},{')
