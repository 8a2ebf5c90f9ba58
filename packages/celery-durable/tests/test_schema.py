"""The tables and functions of a database: made, brought up to date, and never by two at once."""

from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from hashlib import sha256

import psycopg2
import pytest
from celery_durable import schema
from celery_durable.errors import NewerSchema, OlderSchema
from durable_harness.broker import Broker
from sqlalchemy import create_engine, make_url, pool
from sqlalchemy.orm import Session

#: version -> what its tables and functions are.  A change of them is a new version: existing databases must hear of it.
DIGESTS = {
    4: "924a6ee35a82ff4b629cc9484b78b012c0856c7d59096ddb22422434a4c14dfc",
    5: "f298ed7d741419d16b6be09bd47d051534948ea054a2e2b56d2ebbcbb6e36d0d",
    6: "7fbf4c49a89a2ad1b4762829d362a387d87d4c3558cbb6ff5e2e4b0008347af0",
    7: "64e5467cec05f691e3cee707af5edc5d447e0a7a0b59cfce764f92a201f6e22a",
    8: "5a4041478dda5e39375ce180b308c10d5c6fd2aa50c1a9218b809f9f5c2ca8da",
    9: "79c902894f6e960b251b41a9fb2b0da335ffc5cec6f499f5ffb62364d22f2426",
}
VERSIONS = list(range(schema.OLDEST, schema.VERSION + 1))
CATALOG = """
    SELECT 'function ' || proname, md5(pg_get_functiondef(oid)) FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT 'column ' || table_name || '.' || column_name, data_type || coalesce(column_default, '')
      FROM information_schema.columns WHERE table_schema = 'public'
    UNION ALL SELECT 'view ' || viewname, definition FROM pg_views WHERE schemaname = 'public'
    UNION ALL SELECT 'index ' || indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'
    UNION ALL SELECT 'constraint ' || conrelid::regclass || '.' || conname, pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = 'public'::regnamespace AND conrelid > 0
    UNION ALL SELECT 'options ' || relname, array_to_string(reloptions, ' ') FROM pg_class
      WHERE relnamespace = 'public'::regnamespace AND relkind IN ('r', 'v')
    UNION ALL SELECT 'trigger ' || relname || '.' || tgname, pg_get_triggerdef(t.oid)
      FROM pg_trigger AS t JOIN pg_class AS c ON c.oid = tgrelid
      WHERE NOT tgisinternal AND relnamespace = 'public'::regnamespace ORDER BY 1, 2"""


@pytest.fixture
def empty(broker: Broker) -> Broker:
    broker.query("DROP SCHEMA public CASCADE")
    broker.query("CREATE SCHEMA public")
    return broker


def upgrade(broker: Broker, to: int = schema.VERSION) -> int:
    connection = broker.connect()
    try:
        with connection:
            return schema.upgrade(connection, to=to)
    finally:
        connection.close()


def add_stock_names(broker: Broker) -> None:
    with closing(broker.connect()) as connection, connection:
        schema.add_stock_names(connection)


def test_a_change_of_the_schema_is_a_new_version() -> None:
    found = {
        version: sha256(
            "\n".join(
                schema.read(name, version)
                for name in (*schema.tables(version), *schema.functions(version), *schema.stock(version))
            ).encode()
        ).hexdigest()
        for version in VERSIONS
    }
    assert found == DIGESTS, "copy the files as they were to sql/VERSION/, raise schema.VERSION, add its step to STEPS"
    assert sorted(schema.STEPS) == VERSIONS[1:]


@pytest.mark.proof
@pytest.mark.parametrize("version", VERSIONS)
def test_each_version_is_the_same_made_at_once_and_step_by_step(empty: Broker, version: int) -> None:
    assert upgrade(empty, version) == version
    if schema.stock(version):
        add_stock_names(empty)  # which a database has that had tables of these names
    at_once = empty.query(CATALOG)
    empty.query("DROP SCHEMA public CASCADE")
    empty.query("CREATE SCHEMA public")
    for step in range(schema.OLDEST, version + 1):
        assert upgrade(empty, step) == step
    assert empty.query(CATALOG) == at_once
    assert empty.value("SELECT version FROM kombu_schema") == version


@pytest.mark.proof
def test_an_older_version_is_another_one_and_a_newer_database_is_left_as_it_is(empty: Broker) -> None:
    upgrade(empty, schema.OLDEST)
    oldest = empty.query(CATALOG)
    upgrade(empty)
    newest = empty.query(CATALOG)
    assert newest != oldest
    assert upgrade(empty, schema.OLDEST) == schema.VERSION
    assert empty.query(CATALOG) == newest


@pytest.mark.parametrize("version", [schema.OLDEST - 1, schema.VERSION + 1])
def test_a_version_that_the_package_does_not_make_is_refused(empty: Broker, version: int) -> None:
    with pytest.raises(ValueError, match=f"from {schema.OLDEST} to {schema.VERSION}, not {version}"):
        upgrade(empty, version)
    assert empty.query(CATALOG) == []


@pytest.mark.proof
def test_an_empty_database_gets_all_of_it_in_the_callers_transaction(empty: Broker) -> None:
    connection = empty.connect()
    assert schema.current(connection) is None
    assert schema.upgrade(connection) == schema.VERSION
    connection.rollback()
    assert schema.current(connection) is None
    connection.close()
    assert upgrade(empty) == upgrade(empty) == schema.VERSION


@pytest.mark.proof
def test_tables_without_a_version_are_left_alone(empty: Broker) -> None:
    upgrade(empty)
    empty.query("DROP TABLE kombu_schema")
    before = empty.query(CATALOG)
    connection = empty.connect()
    assert schema.current(connection) == 0
    connection.close()
    with pytest.raises(OlderSchema, match="have no version, as those of kombu's own transport"):
        upgrade(empty)
    assert empty.query(CATALOG) == before


def test_a_database_that_is_too_old_is_left_alone(empty: Broker) -> None:
    upgrade(empty, schema.OLDEST)
    empty.query(f"UPDATE kombu_schema SET version = {schema.OLDEST - 1}")
    with pytest.raises(OlderSchema, match=f"version {schema.OLDEST - 1}; this celery-durable upgrades from version"):
        upgrade(empty)
    assert empty.value("SELECT version FROM kombu_schema") == schema.OLDEST - 1


@pytest.mark.proof
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


@pytest.mark.proof
@pytest.mark.parametrize("is_valid", [True, False])
def test_an_index_that_was_built_before_is_taken_unless_its_build_was_interrupted(
    empty: Broker, is_valid: bool
) -> None:
    upgrade(empty, 5)
    empty.query("CREATE UNIQUE INDEX CONCURRENTLY kombu_message_task_queue ON kombu_message (task_id, queue_id)"
                " WHERE task_id IS NOT NULL")  # fmt: skip
    built = empty.value("SELECT 'kombu_message_task_queue'::regclass::oid")
    empty.query("UPDATE pg_index SET indisvalid = %s WHERE indexrelid = %s RETURNING 1", is_valid, built)
    upgrade(empty, 6)
    assert (empty.value("SELECT 'kombu_message_task_id'::regclass::oid") == built) == is_valid
    assert empty.value("SELECT indisvalid FROM pg_index WHERE indexrelid = 'kombu_message_task_id'::regclass")


@pytest.mark.proof
def test_an_upgrade_makes_functions_where_the_tables_are(empty: Broker) -> None:
    """Also where an empty schema comes first in the path."""
    upgrade(empty, schema.OLDEST)
    empty.query("CREATE SCHEMA first")
    empty.stack.callback(empty.query, "DROP SCHEMA first CASCADE")
    connection = empty.connect()
    with connection, connection.cursor() as cursor:
        cursor.execute("SET search_path = first, public")
        schema.upgrade(connection)
        cursor.execute("SELECT durable_queue_add('main')")
        cursor.execute("SELECT durable_publish('main', '{}', 'one', NULL, NULL, NULL, 100, 'main')")
    connection.close()
    assert empty.value("SELECT count(*) FROM durable_message") == 1
    assert empty.value("SELECT count(*) FROM pg_proc WHERE pronamespace = 'first'::regnamespace") == 0
