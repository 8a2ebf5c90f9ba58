"""The tables and functions of a database: made, brought up to date, and never by two at once."""

from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256

import psycopg2
import pytest
from celery_durable import schema
from celery_durable.errors import NewerSchema
from durable_harness.broker import Broker
from sqlalchemy import create_engine, make_url, pool
from sqlalchemy.orm import Session

#: version -> what its tables and functions are.  A change of them is a new version: existing databases must hear of it.
DIGESTS = {
    1: "be54abdc5dc8eaa3e5bbbff26fd7c9f5d44c8b1e7556b180470f73d5ace6656f",
    2: "3e244d698f0210fc38f7bb6b6da8dcd4a1ab3ce2f14ce700b1cc68520c594ec2",
    3: "66bbe4abc2d71ddc4b037fc5cff2ff01ecc311997fbd701c1e39630c2583e49d",
    4: "924a6ee35a82ff4b629cc9484b78b012c0856c7d59096ddb22422434a4c14dfc",
    5: "f298ed7d741419d16b6be09bd47d051534948ea054a2e2b56d2ebbcbb6e36d0d",
}
CATALOG = """
    SELECT 'function ' || proname, md5(pg_get_functiondef(oid)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'column ' || table_name || '.' || column_name, data_type || coalesce(column_default, '')
      FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT 'view ' || viewname, definition FROM pg_views WHERE schemaname = 'public'
    UNION ALL SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY 1"""


@pytest.fixture
def empty(broker: Broker) -> Broker:
    broker.query("DROP SCHEMA public CASCADE")
    broker.query("CREATE SCHEMA public")
    return broker


def upgrade(broker: Broker) -> int:
    connection = broker.connect()
    try:
        with connection:
            return schema.upgrade(connection)
    finally:
        connection.close()


def test_a_change_of_the_schema_is_a_new_version() -> None:
    digest = sha256("\n".join(map(schema.read, (schema.TABLES, *schema.FUNCTIONS))).encode()).hexdigest()
    assert DIGESTS[schema.VERSION] == digest, "raise schema.VERSION, add its step to STEPS and its digest here"
    assert sorted(schema.STEPS) == sorted(DIGESTS) == list(range(1, schema.VERSION + 1))


def test_an_empty_database_gets_all_of_it_in_the_callers_transaction(empty: Broker) -> None:
    connection = empty.connect()
    assert schema.current(connection) is None
    assert schema.upgrade(connection) == schema.VERSION
    connection.rollback()
    assert schema.current(connection) is None
    connection.close()
    assert upgrade(empty) == upgrade(empty) == schema.VERSION


def test_a_database_from_before_there_were_versions_becomes_what_a_new_one_is(empty: Broker) -> None:
    upgrade(empty)
    new = empty.query(CATALOG)
    empty.query("DROP TABLE kombu_schema")
    empty.query("DROP FUNCTION kombu_message_rank")
    empty.query("INSERT INTO kombu_queue (name) VALUES ('kept')")
    connection = empty.connect()
    assert schema.current(connection) == 0
    connection.close()
    assert upgrade(empty) == schema.VERSION
    assert empty.query(CATALOG) == new
    assert empty.value("SELECT name FROM kombu_queue") == "kept"


def test_many_processes_may_do_it_at_once(empty: Broker) -> None:
    with ThreadPoolExecutor(8) as pool_:
        assert list(pool_.map(lambda _: upgrade(empty), range(8))) == [schema.VERSION] * 8
    assert empty.value("SELECT count(*) FROM kombu_schema") == 1


def test_a_newer_database_is_left_alone(empty: Broker) -> None:
    upgrade(empty)
    empty.query("UPDATE kombu_schema SET version = version + 1")
    before = empty.query(CATALOG)
    with pytest.raises(NewerSchema, match=f"version {schema.VERSION + 1}; this celery-durable knows up to"):
        upgrade(empty)
    assert empty.query(CATALOG) == before


@pytest.mark.parametrize("how", ["connection", "session"])
def test_it_works_through_sqlalchemy(empty: Broker, how: str) -> None:
    engine = create_engine(make_url(empty.url).set(drivername="postgresql+psycopg2"), poolclass=pool.NullPool)
    with engine.begin() if how == "connection" else Session(engine) as connection:
        assert schema.upgrade(connection) == schema.VERSION
        connection.commit()
    engine.dispose()
    assert empty.value("SELECT version FROM kombu_schema") == schema.VERSION


def test_two_schemas_of_one_database_are_two_brokers(empty: Broker) -> None:
    connection = empty.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("CREATE SCHEMA one; CREATE SCHEMA two")
        for name in ("one", "two"):
            schema.upgrade(connection, {"schema": name})
            assert schema.current(connection, {"schema": name}) == schema.VERSION
    with pytest.raises(psycopg2.errors.UndefinedTable), connection, connection.cursor() as cursor:
        cursor.execute("SELECT FROM kombu_message")
    connection.close()
