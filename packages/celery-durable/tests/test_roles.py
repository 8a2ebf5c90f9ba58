"""A role that publishes and a role that works: each can do all of its work, and nothing else."""

from contextlib import closing

import pytest
from celery_durable import DuplicateKey, schema
from celery_durable.dead_letters import redrive
from celery_durable.errors import Unsafe
from celery_durable.publish import producer_in
from celery_durable.template import Template, send_many
from durable_harness.broker import Broker
from durable_harness.roles import Role
from durable_harness.versions import batch
from durable_harness.waiting import wait_for

TABLES = (
    "durable_message",
    "durable_ready",
    "durable_lease",
    "durable_waiting",
    "durable_limit",
    "durable_line",
    "durable_queue",
    "kombu_message",
    "kombu_queue",
    "kombu_group",
    "kombu_node",
    "kombu_judgement",
    "kombu_dead_letter",
    "kombu_broadcast",
    "kombu_schema",
)
VIEWS = (
    "broker_message", "broker_queue", "broker_group", "broker_dead_letter", "broker_node", "broker_facts", "broker_ready",
    "broker_lease", "broker_waiting", "broker_limit",
)  # fmt: skip
#: What workers and operators call.
CALLS = (
    "durable_claim('main', 1, 1, 15, 0, 0)", "durable_take(1, 1, 1, 15, 0)",
    "durable_settle('{1}', '{00000000-0000-0000-0000-000000000000}', '{}', '{}', '{}', false)",
    "durable_give_back('{1}', '{00000000-0000-0000-0000-000000000000}', 'died')",
    "durable_retry('a', '00000000-0000-0000-0000-000000000000', 'main', '', 0, false, false, 0, '')",
    "durable_poll('{main}', 1, true, NULL)", "durable_rescue(1, now(), 1)", "durable_probe(1, now(), 1)",
    "durable_judge(1, true, 0)", "durable_leave(1)",
    "durable_promote(1, '-infinity', now(), true, 1)", "durable_rehearse()", "durable_release('{1}', 'died')",
    "durable_keep(1, true)", "durable_drop(1)", "durable_revoke('{a}')", "durable_purge('none')",
    "durable_park('main', 'ann', 30)", "durable_wake(1, 'ann', 1)", "durable_redrive('{1}')",
    "durable_parks(1, 'ann', 1, 1, 1)", "durable_facts()", "durable_groups('main', NULL, 5)",
    "broker_park('main', 'ann', 30)", "broker_wake('main', 'ann', 1)", "broker_move('ann', 'main', 'main')",
    "broker_forget('ann')", "broker_hold('a')", "broker_delete('a')", "broker_finish('a', NULL)",
    "broker_start('a', '00000000-0000-0000-0000-000000000000')",
    "broker_delivery('a', '00000000-0000-0000-0000-000000000000')",
    "broker_fence('a', '00000000-0000-0000-0000-000000000000')",
    "broker_regroup('a', 'ann', 'main', 1, 1, 1)", "broker_request_cancel('a')",
    "broker_limit('main', '1/s')", "broker_unlimit('main')", "durable_keep_limits(1, now(), true)",
    "durable_wake_lines(1, '-infinity', 1)", "durable_claim_limited(1, 'main', 1, 1, 15, 0, 0)",
    "durable_admit(1, 1, 'ann', 1, 1::smallint)", "broker_pause('main')", "broker_resume('main')", "broker_redrive('{1}')", "broker_group_facts('main', NULL, 5)",
)  # fmt: skip
HARM = (
    "CREATE TABLE mine ()", "CREATE SCHEMA mine", "UPDATE kombu_schema SET version = 1", "DELETE FROM kombu_schema",
    "TRUNCATE durable_message", "DROP TABLE durable_ready", "ALTER TABLE durable_message ADD mine int",
    "DELETE FROM durable_queue", "CREATE INDEX ON durable_message (payload)", "DROP FUNCTION broker_channel", "SELECT FROM private", "CREATE ROLE mine",
)  # fmt: skip


@pytest.fixture
def publisher(broker: Broker) -> Role:
    return Role(broker, "hand").grant("publisher")


def waiting(broker: Broker) -> dict[str, str | None]:
    return dict(broker.query("SELECT task_id, coalesce(delay_reason, user_id) FROM kombu_message ORDER BY id"))


def test_a_publisher_publishes_in_each_way(broker: Broker, publisher: Role) -> None:
    app = publisher.app
    app.send_task("bill", task_id="plain")
    app.send_task("bill", task_id="plain")
    app.send_task("bill", task_id="new queue", queue="another")
    app.send_task("bill", task_id="tenant", headers={"tenant": "ann"})
    app.send_task("bill", task_id="limited", headers={"tenant": "ann", "most_ready": 1})
    app.send_task("bill", task_id="later", countdown=60)
    app.send_task("bill", task_id="one", headers={"unique_key": "k"})
    with pytest.raises(DuplicateKey) as met:
        app.send_task("bill", task_id="two", headers={"unique_key": "k"})
    assert met.value.task_id == "one"
    with app.producer_or_acquire() as producer, batch(producer):
        for number in range(3):
            app.send_task("bill", task_id=f"batch{number}", producer=producer, headers={"tenant": "bob"})
        app.send_task("bill", task_id="batch limited", producer=producer, headers={"tenant": "bob", "most_ready": 1})
    assert waiting(broker) == {
        "plain": None, "new queue": None, "tenant": "ann", "limited": "parked", "later": "eta", "one": None,
        "batch0": "bob", "batch1": "bob", "batch2": "bob", "batch limited": "parked",
    }  # fmt: skip
    with app.connection() as connection, connection.channel() as channel:
        assert channel.queue_declare("another", passive=True).message_count == 1


def test_a_publisher_publishes_in_its_own_transaction(broker: Broker, publisher: Role) -> None:
    app = publisher.app
    with publisher.connected() as connection:
        app.send_task("bill", task_id="gone", producer=producer_in(connection))
        connection.rollback()
        app.send_task("bill", task_id="one", producer=producer_in(connection), queue="new")
        Template(app, "bill", {"queue": "new"}).send(connection, "two", (), {})
        many = send_many(connection, app, "bill", [((number,), {}) for number in range(5)], queue="newer")
        producer = producer_in(connection)
        with batch(producer):
            for number in range(2):
                app.send_task("bill", task_id=f"b{number}", queue="new", producer=producer, countdown=60)
        assert waiting(broker) == {}
        connection.commit()
    assert list(waiting(broker)) == ["one", "two", *many, "b0", "b1"]


@pytest.mark.parametrize("level", ["READ COMMITTED", "SERIALIZABLE"])
def test_a_publisher_puts_one_task_on_two_queues_at_each_level(broker: Broker, publisher: Role, level: str) -> None:
    broker.query("INSERT INTO kombu_queue (name) VALUES ('a'), ('b')")
    with publisher.connected() as connection:
        connection.set_session(isolation_level=level)
        producer = producer_in(connection)
        with batch(producer):
            for queue in ("a", "b", "a"):
                publisher.app.send_task("bill", task_id="one", queue=queue, producer=producer)
        publisher.app.send_task("bill", task_id="two", queue="a", producer=producer, headers={"unique_key": "k"})
        for queue in ("a", "b"):
            publisher.app.send_task("bill", task_id="one", queue=queue, producer=producer)
        with pytest.raises(DuplicateKey):
            publisher.app.send_task("bill", task_id="two", queue="b", producer=producer, headers={"unique_key": "k"})
        connection.commit()
    found = broker.query("""
        SELECT q.name, task_id, rank IS NULL FROM kombu_message m JOIN kombu_queue q ON q.id = queue_id ORDER BY 1, 2""")
    unranked = level == "SERIALIZABLE"
    assert found == [("a", "one", unranked), ("a", "two", unranked), ("b", "one", unranked)]


def test_a_publisher_may_do_nothing_else(broker: Broker, publisher: Role) -> None:
    publisher.app.send_task("bill", task_id="a", headers={"tenant": "ann"})
    broker.query("CREATE TABLE private ()")
    acts = [f"SELECT * FROM {name}" for name in (*TABLES, *VIEWS)]
    acts += [f"DELETE FROM {name}" for name in (*TABLES, *VIEWS[:4])]
    acts += [f"INSERT INTO {name} DEFAULT VALUES" for name in TABLES]
    acts += [
        "UPDATE kombu_message SET payload = ''",
        "UPDATE kombu_group SET rank = 0",
        "UPDATE kombu_queue SET name = 'x'",
        "UPDATE durable_message SET payload = ''",
        "UPDATE durable_queue SET name = 'x'",
    ]
    acts += ["UPDATE broker_message SET started_at = now()", "SELECT payload FROM kombu_message FOR UPDATE"]
    acts += ["SELECT nextval('message_id_sequence')", "LOCK durable_message", "SELECT count(*) FROM durable_message"]
    acts += [f"SELECT * FROM {call}" for call in CALLS]
    assert [act for act in (*acts, *HARM) if publisher.may(act)] == []


def test_a_publisher_cannot_put_objects_of_its_own_in_the_way(broker: Broker, publisher: Role) -> None:
    """Temporary tables come first in a search path that does not name them."""
    broker.query("CREATE SCHEMA mine AUTHORIZATION hand")
    broker.stack.callback(broker.query, "DROP SCHEMA IF EXISTS mine CASCADE")
    publisher.app.send_task("bill", task_id="first", headers={"unique_key": "k"})
    with publisher.connected() as connection, connection.cursor() as cursor:
        cursor.execute("""
            CREATE TEMP TABLE durable_queue (id int, name text, rank_floor bigint, paused_at timestamptz);
            CREATE TEMP TABLE durable_message (LIKE pg_class);
            CREATE TEMP TABLE durable_ready (LIKE pg_class);
            CREATE TEMP TABLE durable_waiting (LIKE pg_class);
            CREATE TEMP TABLE kombu_group (queue_id int, name text);
            INSERT INTO pg_temp.durable_queue VALUES (77, 'main', 0, NULL);
            CREATE FUNCTION mine.durable_place(integer, bigint, text, integer) RETURNS bigint LANGUAGE plpgsql AS
                $$ BEGIN RAISE 'mine'; END $$;
            CREATE FUNCTION mine.durable_wanted(integer) RETURNS boolean LANGUAGE plpgsql AS
                $$ BEGIN RAISE 'mine'; END $$;
            CREATE FUNCTION mine.same(varchar, text) RETURNS boolean LANGUAGE plpgsql AS $$ BEGIN RAISE 'mine'; END $$;
            CREATE OPERATOR mine.= (LEFTARG = varchar, RIGHTARG = text, FUNCTION = mine.same);
            SET search_path = pg_temp, mine, public, pg_catalog""")
        app, producer = publisher.app, producer_in(connection)
        app.send_task("bill", task_id="second", headers={"tenant": "ann"}, producer=producer)
        send_many(connection, app, "bill", [((), {})] * 2, queue="main")
        with pytest.raises(DuplicateKey):
            app.send_task("bill", task_id="third", headers={"unique_key": "k"}, producer=producer)
        app.send_task("bill", task_id="fourth", queue="new", producer=producer)
        connection.commit()
    found = broker.query(
        "SELECT q.name, count(*) FROM kombu_message m JOIN kombu_queue q ON q.id = queue_id GROUP BY 1 ORDER BY 1"
    )
    assert found == [("main", 4), ("new", 1)]


def test_nobody_is_a_publisher_by_himself(broker: Broker) -> None:
    stranger = Role(broker, "stranger")
    broker.query("GRANT USAGE ON SCHEMA public TO stranger")
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")
    calls = (
        "durable_publish('main', '{}', 'a', NULL, NULL, NULL, 100, 'main')", "durable_in_the_way('main', 'a', NULL)",
        "durable_publish_many('{main}', '{x}', '{a}', '{NULL}', '{NULL}', '{NULL}', '{100}')",
        "durable_queue_add('x')", "durable_queue_exists('x')", "durable_queue_size('x')",
    )  # fmt: skip
    assert [call for call in calls if stranger.may(f"SELECT * FROM {call}")] == []
    stranger.grant("publisher")
    assert [call for call in calls if not stranger.may(f"SELECT * FROM {call}")] == []


def test_a_role_that_could_put_operators_beside_the_tables_is_no_publisher(broker: Broker) -> None:
    role = Role(broker, "builder")
    broker.query("GRANT CREATE ON SCHEMA public TO PUBLIC")
    with pytest.raises(Unsafe, match="REVOKE CREATE ON SCHEMA public FROM PUBLIC"):
        role.grant("publisher")
    broker.query("REVOKE CREATE ON SCHEMA public FROM PUBLIC")
    role.grant("publisher")


@pytest.mark.proof
def test_a_publisher_of_a_schema_publishes_there(broker: Broker) -> None:
    options = {"schema": "post"}
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection, options)
    role = Role(broker, "hand", **options).grant("publisher")
    broker.stack.callback(broker.query, "DROP SCHEMA post CASCADE")
    with role.connected() as connection, connection.cursor() as cursor:
        cursor.execute("CREATE TEMP TABLE durable_queue (id int, name text, rank_floor bigint)")
        role.app.send_task("bill", producer=producer_in(connection, options))
        send_many(connection, role.app, "bill", [((), {})] * 2, queue="main", broker_options=options)
        connection.commit()
    role.app.send_task("bill")
    assert broker.value("SELECT count(*) FROM post.durable_message") == 4
    assert not role.may("SELECT FROM post.durable_message")
    assert not role.may("SELECT public.durable_queue_exists('main')")


@pytest.fixture
def mill(broker: Broker) -> Role:
    role = Role(broker, "mill").grant("worker")
    broker.query("GRANT INSERT, SELECT ON runs TO mill; CREATE TABLE private ()")
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main')")
    return role


@pytest.mark.proof
def test_a_worker_runs_tasks_to_each_of_their_ends(broker: Broker, mill: Role) -> None:
    worker = broker.worker("-c", "2", BROKER_TEST_URL=mill.url, BROKER_TEST_REMOTE="1")
    broker.send("retried", 2, task_id="retried")
    broker.send("dies", 9, task_id="dies")
    broker.send("work", task_id="tenant", headers={"tenant": "ann", "most_ready": 1})
    broker.send("parked", task_id="ann0", headers={"tenant": "bob"})
    broker.send("work", task_id="later", countdown=0.2)
    broker.app.send_task("nobody.knows", task_id="unknown")
    wait_for(lambda: {"dies", "unknown"} <= set(dead(broker)), "both dead letters")
    ended = "SELECT task_id FROM runs WHERE what = 'end'"
    wait_for(lambda: {("retried",), ("tenant",), ("later",)} <= set(broker.query(ended)), "their ends")
    wait_for(lambda: waiting(broker) == {"ann0": "parked"}, "the parked one")
    assert broker.value("SELECT retry_count FROM runs WHERE task_id = 'retried' AND what = 'end'") == 2
    with mill.connected() as connection:
        assert redrive(connection, reason="lost").put
        connection.commit()
    assert mill.app.control.ping(timeout=30, limit=1)
    worker.stop()
    assert "permission denied" not in worker.text


def dead(broker: Broker) -> list[str]:
    return [task_id for (task_id,) in broker.query("SELECT task_id FROM kombu_dead_letter")]


def test_a_worker_may_do_nothing_else(mill: Role) -> None:
    assert [act for act in HARM if mill.may(act)] == []
    assert [call for call in CALLS if not mill.may(f"SELECT * FROM {call}")] == []
    assert [view for view in VIEWS if not mill.may(f"SELECT * FROM {view}")] == []


@pytest.mark.proof
def test_a_role_that_could_write_messages_before_goes_on_after_the_upgrade(broker: Broker) -> None:
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    role = Role(broker, "app")
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection, to=5)
    broker.query(
        "GRANT USAGE ON SCHEMA public TO app; GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO app"
    )
    broker.query("GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO app")
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection)
    role.app.send_task("bill", task_id="one", headers={"tenant": "ann"})
    assert waiting(broker) == {"one": "ann"}
    assert role.may("SELECT kombu_message_publish('main', '{}', 'two', NULL, NULL, NULL, 100, 'main')")  # as before
    assert [call for call in CALLS if not role.may(f"SELECT * FROM {call}")] == []


def test_the_command_grants(broker: Broker) -> None:
    hand, mill = Role(broker, "hand"), Role(broker, "mill")
    assert schema.main([broker.url, "--grant-publisher", "hand", "--grant-worker", "mill"]) is None
    hand.app.send_task("bill", task_id="one")
    assert mill.may("SELECT payload FROM durable_message")
    assert 'role "nobody" does not exist' in str(schema.main([broker.url, "--grant-publisher", "nobody"]))
    for wrong in (["--grant-publisher"], ["--grant-owner", "hand"], ["-x"]):
        assert str(schema.main([broker.url, *wrong])).startswith("usage: ")
