"""The migration of the broker's version 8 is taken back while messages wait for limits, which version 7 has not."""

from collections.abc import Iterator

import pytest
from sqlalchemy import Engine, create_engine, pool

from tests.contract.test_broker_rights import rows
from tests.contract.test_migrations import run
from tests.databases import Databases

PUBLISH = """
    SELECT durable_publish('main', '{"headers": {"task": "t"}}', tenant || number, tenant, NULL, NULL, 100, 'main')
      FROM generate_series(1, 3) AS number CROSS JOIN unnest(ARRAY['ann', 'bob']) AS tenant ORDER BY number, tenant"""
CLAIM = """
    SELECT m.task_id FROM durable_claim('main', 9, NULL, 900, 0, 0) AS c JOIN durable_message AS m ON m.id = c.message_id"""
CLAIM_OF_7 = """
    SELECT m.task_id FROM kombu_message_claim('main', 9, NULL, 900, 0, 0) AS c
      JOIN kombu_message AS m ON m.id = c.message_id ORDER BY c.place, m.id"""


@pytest.fixture
def engine(databases: Databases) -> Iterator[Engine]:
    with databases.new() as url:
        made = create_engine(url, poolclass=pool.NullPool)
        run(made, "upgrade", "0055")
        rows(made, "SELECT durable_queue_add('main')", "SELECT broker_limit('main', '1/h', 't')", PUBLISH)
        yield made
        made.dispose()


def test_what_waits_for_a_limit_is_ready_again_in_its_order(engine: Engine) -> None:
    assert rows(engine, CLAIM) == [("ann1",)]
    rows(engine, "UPDATE durable_line SET next_at = now(), wake_at = now()",
         "SELECT durable_poll('{main}', NULL, true, NULL, 4)")  # fmt: skip
    [(woken,)] = rows(engine, "SELECT task_id FROM broker_message WHERE is_ready")
    assert rows(engine, "SELECT count(*) FROM broker_waiting WHERE reason = 'limited'") == [(4,)]
    run(engine, "downgrade", "-1")
    assert rows(engine, "SELECT count(*), count(*) FILTER (WHERE visible) FROM kombu_message") == [(6, 5)]
    order = [task for (task,) in rows(engine, CLAIM_OF_7)]
    assert sorted(order) == ["ann2", "ann3", "bob1", "bob2", "bob3"]
    assert woken in order[:2]
    for tenant in ("ann", "bob"):
        assert [task for task in order if task.startswith(tenant)] == sorted(
            task for task in order if task.startswith(tenant)
        )
    run(engine, "upgrade", "0055")
    assert rows(engine, "SELECT count(*) FROM durable_lease") == [(6,)]
    assert rows(engine, "SELECT count(*) FROM broker_limit") == [(0,)]
