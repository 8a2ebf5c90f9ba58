"""The plans of statements, with those inside of functions."""

import json
from collections.abc import Callable
from typing import Any

from celery_durable.database import Parameters

from durable_harness.broker import Broker

NESTED = """
    LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0; SET auto_explain.log_analyze = on;
    SET auto_explain.log_nested_statements = on; SET auto_explain.log_format = json; SET client_min_messages = log"""


def pages(connection: Any, statement: str, given: Parameters | None = None, times: int = 7) -> int:
    """The fewest pages that a run of it touches.

    The first runs fill the session's caches and keep a plan.  A later one plans anew, and reads the catalog for it,
    if autovacuum has looked at a table meanwhile.
    """
    with connection.cursor() as cursor:
        found = []
        for _ in range(times):
            cursor.execute(f"EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) {statement}", given)
            plan = cursor.fetchone()[0][0]["Plan"]
            found.append(int(plan["Shared Hit Blocks"] + plan["Shared Read Blocks"]))
    return min(found)


def nodes(plan: dict[str, Any]) -> list[dict[str, Any]]:
    return [plan, *(node for child in plan.get("Plans", ()) for node in nodes(child))]


def explain(
    broker: Broker, statement: str, given: Parameters, times: int = 1, before_last: Callable[[], None] | None = None
) -> list[dict[str, Any]]:
    """The plan nodes of all statements inside of it, in its last run: functions keep their plans for a session."""
    connection = broker.connect()
    with connection.cursor() as cursor:
        cursor.execute(NESTED)
        for number in range(times):
            connection.notices.clear()
            if number == times - 1 and before_last:
                before_last()
            cursor.execute(statement, given)
    connection.rollback()  # else the server ends it some time after the close, and claims skip what it has locked
    connection.close()
    plans = [json.loads(notice[notice.index("{") :])["Plan"] for notice in connection.notices if "plan:" in notice]
    assert len(plans) > 1
    return [node for plan in plans for node in nodes(plan)]
