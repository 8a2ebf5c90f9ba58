"""What operators find: nodes, and messages that the broker gave up."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta

from service_harness.application import Web
from sqlalchemy import text

from app.services.operations.send_schedule import ScheduledEntry
from tests.conftest import raw_connection
from tests.web.conftest import rows

#: Like those of celeryconfig.py, which no process of the web reads.
ENTRIES = (
    ScheduledEntry("prune", "tasks.maintenance.prune", timedelta(days=1), "analysis_scheduled", timedelta(hours=3)),
    ScheduledEntry("sweep", "tasks.maintenance.sweep", timedelta(minutes=5), "analysis_scheduled"),
)
NODE = 4_000_000_000_123  # larger than half of what an advisory lock shows of its key


@contextmanager
def node(
    web: Web, url: str, *queues: str, name: str = "host:7", lock: int = NODE, spare: dict[str, int] | None = None
) -> Iterator[None]:
    """What a node of the transport writes down, and the session that shows that it is alive."""
    with raw_connection(url) as connection:
        connection.execute(text("SELECT pg_advisory_lock(:lock)"), {"lock": lock})
        gone_node(web, *queues, name=name, lock=lock, spare=spare)
        yield
        # the server notices only later that a connection was closed, and until then the lock would be held
        connection.execute(text("SELECT pg_advisory_unlock(:lock)"), {"lock": lock})


def gone_node(
    web: Web, *queues: str, name: str = "host:7", lock: int = NODE, spare: dict[str, int] | None = None
) -> None:
    """What a dead node leaves behind."""
    add = """INSERT INTO kombu_node (lock, name, poll_seconds, queues, prefetch_count, spare_queues)
             VALUES (:lock, :name, 5, :queues, 3, CAST(:spare AS jsonb)) RETURNING 1"""
    queues = queues or ("analysis_default",)
    rows(web, add, lock=lock, name=name, queues=list(queues), spare=spare and json.dumps(spare))


def letter(web: Web, reason: str = "undecodable", queue: str = "analysis_default", payload: str = "{}") -> int:
    """The id of a new dead letter without a job."""
    add = "INSERT INTO kombu_dead_letter (queue, payload, reason) VALUES (:queue, :payload, :reason) RETURNING id"
    [(found,)] = rows(web, add, queue=queue, payload=payload, reason=reason)
    return int(found)


def bury_all(web: Web) -> list[int]:
    """Turn every message into a dead letter, as if its workers had died."""
    return [
        int(row.id)
        for row in rows(
            web,
            """WITH dead AS (DELETE FROM kombu_message RETURNING *)
               INSERT INTO kombu_dead_letter
                   (queue, task_id, user_id, payload, reason, unique_key, rank_step, enqueued_at)
               SELECT name, task_id, user_id, payload, 'lost', unique_key, rank_step, enqueued_at
                 FROM dead JOIN kombu_queue ON kombu_queue.id = queue_id RETURNING id""",
        )
    ]
