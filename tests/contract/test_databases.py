"""A database that tests share one after another is as the migrations left it, whatever the test before did to it."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import OperationalError

from app import embedded
from tests.conftest import raw_connection
from tests.databases import Databases, run_sql
from tests.tiers import few

TABLES = "SELECT tablename FROM pg_tables WHERE schemaname = 'public' ORDER BY 1"
CHANGES = (
    "ALTER TABLE users ADD mine int", "ALTER TABLE users DROP COLUMN slot_limit", "CREATE TABLE mine ()",
    "CREATE FUNCTION mine() RETURNS int LANGUAGE sql AS 'SELECT 1'", "COMMENT ON TABLE users IS 'mine'",
    "GRANT SELECT ON users TO PUBLIC", "ALTER TABLE users DISABLE TRIGGER ALL", "CREATE INDEX ON users (email, kind)",
    "ALTER TABLE users ADD CHECK (email <> 'mine')", "ALTER DATABASE {name} SET default_transaction_read_only = on",
)  # fmt: skip


@pytest.fixture
def own(databases: Databases) -> Iterator[Databases]:
    """Beside the one that this process uses."""
    made = Databases(databases.server, databases.template)
    yield made
    made.close()


@contextmanager
def changing(url: str) -> Iterator[Any]:
    with raw_connection(url) as connection:
        yield connection
        connection.commit()


def contents(url: str) -> dict[str, list[Any]]:
    with raw_connection(url) as connection:
        tables = connection.execute(text(TABLES)).scalars().all()
        return {table: [*connection.execute(text(f"SELECT * FROM {table} ORDER BY 1"))] for table in tables}


def test_rows_are_gone_and_those_of_the_migrations_are_as_they_were(own: Databases) -> None:
    url = own.emptied()
    before = contents(url)
    with changing(url) as connection:
        connection.execute(text("INSERT INTO kombu_message (queue_id, payload) VALUES (1, '{}')"))
        connection.execute(text("UPDATE kombu_queue SET paused_at = now()"))
        connection.execute(text("DELETE FROM subscription_plans WHERE tier = 'free'"))
    assert contents(url) != before
    assert own.emptied() == url
    assert contents(url) == before
    with raw_connection(url) as connection:
        assert connection.execute(text("SELECT nextval('message_id_sequence')")).scalar_one() == 1


@pytest.mark.parametrize("change", few(2, CHANGES))
def test_a_database_of_which_more_than_rows_was_changed_is_not_used_again(
    own: Databases, server: embedded.Server, change: str
) -> None:
    url = own.emptied()
    name = make_url(url).database
    run_sql(make_url(server.admin_url).set(database=name), change.format(name=name))
    assert own.emptied() != url


@pytest.mark.proof
def test_nobody_is_left_in_it(own: Databases) -> None:
    with raw_connection(own.emptied()) as connection:
        connection.execute(text("LOCK TABLE users"))
        own.emptied()
        with pytest.raises(OperationalError):
            connection.execute(text("SELECT 1"))
