"""Each table that leads to a user is classified, so that a new way in cannot be forgotten."""

from __future__ import annotations

import pytest
from sqlalchemy import text

from app.store.accounts.personal_data import REACHES, STAYS, WAYS_IN
from tests.conftest import raw_connection

#: Tables that refer to users, or to a table that does, however many tables are between.
_LEADING = """
    WITH RECURSIVE found AS (
        SELECT conrelid AS id FROM pg_constraint WHERE contype = 'f' AND confrelid = 'users'::regclass
        UNION SELECT c.conrelid FROM pg_constraint c JOIN found l ON c.confrelid = l.id WHERE c.contype = 'f')
    SELECT id::regclass::text FROM found JOIN pg_class c ON c.oid = id WHERE NOT c.relispartition"""
_NAMING = """
    SELECT table_name FROM information_schema.columns JOIN information_schema.tables USING (table_schema, table_name)
     WHERE table_schema = 'public' AND column_name = 'user_id' AND table_type = 'BASE TABLE'
       AND table_name NOT LIKE 'kombu%'"""  # jobs, which app/store/accounts/personal_data.py takes off the queues one by one""


@pytest.mark.parametrize("query", [_LEADING, _NAMING])
def test_each_table_that_leads_to_a_user_is_classified(migrated_url: str, query: str) -> None:
    with raw_connection(migrated_url) as connection:
        found = set(connection.execute(text(query)).scalars())
    assert found - {*WAYS_IN, *REACHES, *STAYS} == set()


def test_no_table_is_classified_twice_and_none_is_made_up(migrated_url: str) -> None:
    named = [*WAYS_IN, *REACHES, *STAYS]
    assert len(named) == len(set(named))
    with raw_connection(migrated_url) as connection:
        leading = set(connection.execute(text(_LEADING)).scalars())
    assert set(named) == leading
