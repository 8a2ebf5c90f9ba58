"""What the operator's pages and changes of limits read does not grow with the users who have no work."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from sqlalchemy import TextClause, text

from app.store.accounts import users
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.store.fairness import waits
from tests.databases import Databases

FILL = """
    INSERT INTO users (id, email, created_at)
    SELECT gen_random_uuid(), n || '@example.org', now() FROM generate_series(1, 2000) n;
    INSERT INTO user_subscriptions (user_id, tier, anchor_at) SELECT id, 'free', now() FROM users;
    ANALYZE"""
STATEMENTS: dict[str, tuple[TextClause, dict[str, Any]]] = {
    "tenants": (waits._TENANTS, {"most": 100, "who": None}),
    "waiting users of a tier": (users._WAITING, {"tier": "free"}),
    "all waiting users": (users._ALL_WAITING, {}),
}


@pytest.fixture(scope="module")
def crowd(databases: Databases) -> Iterator[UnitOfWork]:
    """2,000 users, and nothing in the queues."""
    with databases.copy() as url:
        engine = make_engine(url)
        uow = UnitOfWork(engine)
        with uow.begin() as tx:
            tx.run(text(FILL))
        yield uow
        engine.dispose()


@pytest.mark.parametrize("name", STATEMENTS)
def test_users_are_found_by_their_ids(crowd: UnitOfWork, name: str) -> None:
    statement, given = STATEMENTS[name]
    with crowd.begin() as tx:
        tx.run(text("SET LOCAL enable_seqscan = off"))  # of so few users all are read as quickly
        tx.run(text("SET LOCAL enable_hashjoin = off"))
        tx.run(text("SET LOCAL enable_mergejoin = off"))
        plan = "\n".join(tx.run(text(f"EXPLAIN {statement.text}"), **given).scalars())
    found = re.search(r"using users_pkey on users u .*\n\s*Index Cond: \((.*)\)", plan)
    assert found is not None, plan
    assert found[1].startswith("id = ")
