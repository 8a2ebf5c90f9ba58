"""What a role may after the step to version 8: what it could before, and no row of its holds up a queue."""

from contextlib import closing
from typing import Any

import psycopg2
import pytest
from celery_durable import schema
from celery_durable.errors import NotUpgraded
from durable_harness.broker import Broker
from durable_harness.roles import Role
from test_roles import CALLS, HARM

pytestmark = pytest.mark.proof

BEFORE = 7
#: As `schema.grant` of version 7 granted them.
PUBLISHER = """
    GRANT USAGE ON SCHEMA public TO {role};
    GRANT EXECUTE ON FUNCTION kombu_message_publish, kombu_message_publish_many, kombu_message_in_the_way,
        kombu_queue_add, kombu_queue_exists, kombu_queue_size TO {role};"""
WORKER = f"""{PUBLISHER}
    GRANT SELECT, INSERT, UPDATE, DELETE ON kombu_message, kombu_group, kombu_node, kombu_dead_letter, kombu_broadcast
        TO {{role}};
    GRANT SELECT, INSERT, UPDATE ON kombu_queue, kombu_judgement TO {{role}};
    GRANT SELECT ON kombu_schema TO {{role}};
    GRANT USAGE ON SEQUENCE message_id_sequence, queue_id_sequence TO {{role}};
    GRANT SELECT ON broker_message, broker_queue, broker_group, broker_dead_letter, broker_node, broker_facts
        TO {{role}};
    GRANT UPDATE, DELETE ON broker_message TO {{role}};
    GRANT DELETE ON broker_dead_letter TO {{role}};"""
STATES = (
    "broker_ready", "broker_lease", "broker_waiting", "broker_limit", "durable_ready", "durable_lease", "durable_waiting",
    "durable_limit", "durable_line",
)  # fmt: skip
MAY = """
    SELECT c.relname, string_agg(p, ' ' ORDER BY p) FROM pg_class AS c
     CROSS JOIN unnest('{SELECT,INSERT,UPDATE,DELETE,TRUNCATE}'::text[]) AS p
     WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v') AND has_table_privilege(%s, c.oid, p)
     GROUP BY 1 ORDER BY 1"""
CLAIM = "SELECT message_id FROM durable_claim('main', 9, NULL, 900, 0, 0) WHERE message_id IS NOT NULL"


@pytest.fixture
def old(broker: Broker) -> Broker:
    """A database of the version before, with a message that is leased and two that are ready."""
    broker.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection, to=BEFORE)
    broker.query("INSERT INTO kombu_queue (name) VALUES ('main'); CREATE TABLE private ()")
    for task in ("leased", "ready", "another"):
        broker.query("SELECT kombu_message_publish('main', '{}', %s, 'ann', NULL, NULL, 100, 'main')", task)
    assert len(broker.query("SELECT * FROM kombu_message_claim('main', 1, NULL, 900, 0, 0)")) == 1
    return broker


def role_of(broker: Broker, name: str, rights: str) -> Role:
    role = Role(broker, name)
    broker.query(f"GRANT USAGE ON SCHEMA public TO {name}; " + rights.format(role=name))
    return role


def upgrade(broker: Broker) -> None:
    with closing(broker.connect()) as connection, connection:
        schema.upgrade(connection)


def ran(role: Role, statement: str) -> Any:
    """What a statement of the role's finds."""
    with role.connected() as connection, connection, connection.cursor() as cursor:
        cursor.execute(statement)
        return cursor.fetchall() if cursor.description else cursor.rowcount


def test_a_publisher_publishes_by_both_names_and_may_nothing_else(old: Broker) -> None:
    role = role_of(old, "hand", PUBLISHER)
    upgrade(old)
    role.app.send_task("bill", task_id="one", headers={"tenant": "ann"})
    role.app.send_task("bill", task_id="two", queue="new")
    assert ran(role, "SELECT kombu_message_publish('main', '{}', 'three', NULL, NULL, NULL, 100, 'main') > 0") == [
        (True,)
    ]
    assert old.value("SELECT count(*) FROM durable_message WHERE task_id IN ('one', 'two', 'three')") == 3
    assert old.query(MAY, "hand") == []


def test_a_worker_works_with_the_new_tables_and_views(old: Broker) -> None:
    role = role_of(old, "mill", WORKER)
    upgrade(old)
    assert [call for call in CALLS if not role.may(f"SELECT * FROM {call}")] == []
    assert [act for act in HARM if role.may(act)] == []
    assert [name for name in STATES if not role.may(f"SELECT * FROM {name}")] == []
    role.app.send_task("bill", task_id="one")
    assert len(ran(role, CLAIM)) == 3


def test_a_reader_of_messages_keeps_exactly_that(old: Broker) -> None:
    role = role_of(old, "reader", "GRANT SELECT ON broker_message TO {role}")
    upgrade(old)
    assert sorted(ran(role, "SELECT task_id, lease_token IS NULL FROM broker_message")) == [
        ("another", True), ("leased", False), ("ready", True),
    ]  # fmt: skip
    assert old.query(MAY, "reader") == [("broker_message", "SELECT")]
    assert [act for act in HARM if role.may(act)] == []
    assert not role.may("SELECT node FROM durable_lease")


def test_a_reader_of_the_table_reads_all_that_it_said(old: Broker) -> None:
    role = role_of(old, "reader", "GRANT SELECT ON kombu_message TO {role}")
    upgrade(old)
    assert len(ran(role, "SELECT * FROM kombu_message")) == 3
    assert old.query(MAY, "reader") == [
        (name, "SELECT") for name in sorted((*STATES, "durable_message", "kombu_message"))
    ]


def test_who_may_only_read_and_delete_messages_still_ends_them(old: Broker) -> None:
    role = role_of(old, "ender", "GRANT SELECT, DELETE ON broker_message TO {role}")
    upgrade(old)
    assert ran(role, "DELETE FROM broker_message WHERE task_id = 'ready'") == 1
    assert ran(role, "DELETE FROM broker_message WHERE task_id = 'leased' AND lease_token IS NOT NULL") == 1
    assert not role.may("UPDATE broker_message SET started_at = now()")
    assert old.query("SELECT task_id FROM durable_message") == [("another",)]
    assert old.query(MAY, "ender") == [("broker_message", "DELETE SELECT")]


def test_who_may_change_a_message_through_the_view_needs_no_more(old: Broker) -> None:
    role = role_of(old, "starter", "GRANT SELECT, UPDATE ON broker_message TO {role}")
    upgrade(old)
    assert ran(role, "UPDATE broker_message SET started_at = now() WHERE task_id = 'leased'") == 1
    assert ran(role, "SELECT task_id FROM broker_message WHERE lease_token IS NOT NULL FOR UPDATE") == [("leased",)]


def test_the_trigger_of_messages_is_on_no_table_of_somebody_elses(broker: Broker) -> None:
    role = Role(broker, "hand").grant("publisher")
    mine = "CREATE TEMP TABLE mine (id bigint); CREATE TRIGGER t BEFORE DELETE ON mine FOR EACH ROW EXECUTE FUNCTION "
    assert not role.may(f"{mine} durable_change()")


def test_the_trigger_changes_nothing_through_another_view(old: Broker) -> None:
    """Whoever has the right of each new function by default could delete messages by a view of his own."""
    role = role_of(old, "hand", "GRANT TEMPORARY ON DATABASE postgres TO {role};"
                                " ALTER DEFAULT PRIVILEGES GRANT EXECUTE ON FUNCTIONS TO {role}")  # fmt: skip
    upgrade(old)
    columns = old.query(
        """
        SELECT string_agg(format('NULL::%%s AS %%I', format_type(atttypid, atttypmod), attname), ', ' ORDER BY attnum)
          FROM pg_attribute WHERE attrelid = 'broker_message'::regclass AND attname <> %s AND attnum > 0""",
        "id",
    )
    thief = """
        CREATE TEMP VIEW broker_message AS SELECT {}::bigint AS id, {};
        CREATE TRIGGER t INSTEAD OF DELETE ON pg_temp.broker_message
            FOR EACH ROW EXECUTE FUNCTION public.durable_change();
        DELETE FROM pg_temp.broker_message"""
    ready = old.value("SELECT min(id) FROM durable_ready")
    with pytest.raises(psycopg2.errors.InsufficientPrivilege, match="through broker_message only"):
        ran(role, thief.format(ready, columns[0][0]))
    assert old.value("SELECT count(*) FROM durable_message") == 3


def test_a_stock_producer_may_write_no_row_of_a_state(old: Broker) -> None:
    role = role_of(old, "stock", "GRANT INSERT ON kombu_message TO {role}; GRANT SELECT ON kombu_queue TO {role};"
                                 " GRANT USAGE ON SEQUENCE message_id_sequence TO {role}")  # fmt: skip
    upgrade(old)
    assert ran(role, "INSERT INTO kombu_message (payload, queue_id) SELECT '{}', id FROM kombu_queue") == 1
    writes = [f"INSERT INTO durable_{name} DEFAULT VALUES" for name in ("message", "ready", "lease", "waiting")]
    assert [act for act in writes if role.may(act)] == []
    assert old.value("SELECT count(*) FROM broker_ready") == 3


def test_a_row_too_many_holds_up_neither_claims_nor_polls(old: Broker) -> None:
    upgrade(old)
    leased = old.value("SELECT id FROM durable_lease")
    token = old.value("SELECT token FROM durable_lease")
    old.query("INSERT INTO durable_ready (id, queue_id, tenant, rank) SELECT id, queue_id, '', 0 FROM durable_lease")
    delayed = old.value("SELECT durable_publish('main', '{}', 'delayed', NULL, NULL, 0, 100, 'main')")
    old.query("INSERT INTO durable_ready (id, queue_id, tenant, rank) SELECT id, queue_id, '', 0 FROM durable_waiting")
    assert old.value("SELECT ready FROM durable_poll('{main}', NULL, true, NULL)") == ["main"]
    found = {found for (found,) in old.query(CLAIM)}
    assert leased not in found
    assert delayed in found
    assert len(found) == 3
    assert old.value("SELECT token FROM durable_lease WHERE id = %s", leased) == token
    assert old.query("SELECT id FROM durable_ready UNION ALL SELECT id FROM durable_waiting") == []


def test_rights_on_columns_go_on_by_the_names_of_before(old: Broker) -> None:
    Role(old, "clerk")  # it goes after who gives it something
    pauser = role_of(old, "pauser", "GRANT SELECT (id, name), UPDATE (paused_at) ON kombu_queue TO {role}")
    watch = role_of(old, "watch", "GRANT SELECT (id, task_id, user_id, visible) ON kombu_message TO {role};"
                                  " GRANT SELECT (name) ON kombu_queue TO {role} WITH GRANT OPTION")  # fmt: skip
    weigher = role_of(old, "weigher", "GRANT SELECT (task_id), UPDATE (rank_step, rank) ON kombu_message TO {role};")
    old.query("GRANT SELECT (task_id, lease_token) ON broker_message TO watch")
    counter = role_of(old, "counter", "GRANT SELECT (rank_floor), UPDATE (rank_floor) ON kombu_queue TO {role}")
    producer = role_of(old, "producer", "GRANT INSERT (payload, queue_id) ON kombu_message TO {role}")
    upgrade(old)
    assert len(ran(watch, "SELECT id, task_id, user_id FROM kombu_message WHERE visible")) == 2
    assert [act for act in ("payload", "lease_token") if watch.may(f"SELECT {act} FROM kombu_message")] == []
    ran(watch, "GRANT SELECT (name) ON kombu_queue TO clerk; GRANT SELECT (id) ON kombu_message TO clerk")
    given = (
        "SELECT has_column_privilege('clerk', 'kombu_queue', 'name', 'SELECT'), "
        "has_column_privilege('clerk', 'kombu_message', 'id', 'SELECT')"
    )
    assert old.query(given) == [(True, False)]
    assert ran(pauser, "UPDATE kombu_queue SET paused_at = now() WHERE name = 'main'") == 1
    assert not pauser.may("UPDATE kombu_queue SET name = 'x'")
    assert ran(counter, "UPDATE durable_queue SET has_priorities = true WHERE NOT has_priorities") == 1
    assert not pauser.may("SELECT has_priorities FROM durable_queue")
    assert ran(weigher, "UPDATE kombu_message SET rank_step = 7, rank = 7 WHERE task_id = 'ready'") == 1
    assert old.query("SELECT step, rank FROM broker_message WHERE task_id = 'ready'") == [(7, 7)]
    assert ran(producer, "INSERT INTO kombu_message (payload, queue_id) VALUES ('{}', 1)") == 1
    assert old.value("SELECT count(*) FROM durable_ready") == 3


def test_no_right_on_a_column_writes_a_row_of_one_table_or_reads_a_token(old: Broker) -> None:
    role = role_of(old, "hand", "GRANT SELECT (id), INSERT (payload, queue_id), UPDATE (user_id, rank_step)"
                                " ON kombu_message TO {role}")  # fmt: skip
    reader = role_of(old, "reader", "GRANT SELECT (task_id) ON broker_message TO {role};"
                                    " GRANT SELECT (id, task_id) ON kombu_message TO {role}")  # fmt: skip
    upgrade(old)
    acts = ["INSERT INTO durable_message (payload, queue_id) VALUES ('', 1)", "UPDATE durable_message SET tenant = ''",
            "UPDATE durable_message SET step = 1"]  # fmt: skip
    assert [act for act in acts if role.may(act)] == []
    assert len(ran(reader, "SELECT task_id FROM broker_message")) == 3
    assert not reader.may("SELECT token FROM durable_lease")


def test_who_might_give_a_right_away_still_may(old: Broker) -> None:
    Role(old, "clerk")
    role = role_of(old, "chief", "GRANT SELECT, INSERT ON kombu_message TO {role} WITH GRANT OPTION;"
                   " GRANT EXECUTE ON FUNCTION kombu_queue_add TO {role} WITH GRANT OPTION")  # fmt: skip
    old.query("SET ROLE chief; GRANT SELECT, INSERT ON kombu_message TO clerk")
    upgrade(old)
    for name in ("kombu_message", "durable_message", "durable_ready", "broker_ready"):
        ran(role, f"GRANT SELECT ON {name} TO clerk")
        assert old.value("SELECT has_table_privilege('clerk', %s, 'SELECT')", name)
    ran(role, "GRANT INSERT ON kombu_message TO clerk; GRANT EXECUTE ON FUNCTION durable_queue_add TO clerk")
    assert old.value("SELECT has_function_privilege('clerk', 'durable_queue_add(text)', 'EXECUTE')")
    for name in ("chief", "clerk"):
        assert not old.value("SELECT has_table_privilege(%s, 'durable_message', 'INSERT')", name)


@pytest.mark.parametrize("right", ["publisher", "worker"])
def test_rights_on_an_older_database_are_refused_with_what_to_do(old: Broker, right: str) -> None:
    sentence = rf"are of version {BEFORE}; .* of version {schema.VERSION}: run python -m celery_durable.schema"
    role = Role(old, "hand")
    with pytest.raises(NotUpgraded, match=sentence):
        role.grant(right)
    old.query("DROP SCHEMA public CASCADE; CREATE SCHEMA public")
    with pytest.raises(NotUpgraded, match="are not there"):
        role.grant(right)


def test_a_role_that_is_not_there_is_an_error_of_the_driver(broker: Broker) -> None:
    with closing(broker.connect()) as connection, pytest.raises(psycopg2.Error, match="nobody"):
        schema.grant(connection, "nobody", "worker")
