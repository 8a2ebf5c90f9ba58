"""Two thousand jobs that were snoozed at once come back: how long a claim takes, and how late they are claimed."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime

import psycopg2
from celery_durable.options import Options
from celery_durable.statements import statements
from sqlalchemy import text

from app.domain.summaries import percentile
from bench.fairness.loops import plain
from bench.fairness.scenes.figures import Figures
from bench.fairness.service import Service, service

HERD, ALONE, AT_ONCE, JITTER_SECONDS = 2_000, 200, 8, 10.0
#: A session plans its functions in their first calls; nothing is due yet.
WARM = 10
QUEUE = "analysis_default"
#: All are claimed, and each is snoozed: they become due evenly over a jitter, beginning in a second.
SNOOZE = """
    SELECT durable_retry(
               m.task_id, CAST(c.token AS uuid), :queue, c.body, 1 + :jitter * c.number / :number, true, false, 0,
               :queue)
      FROM durable_claim(:queue, :number, NULL, 60, 0, 0) WITH ORDINALITY
               AS c (message_id, token, body, deliveries, retries, snoozes, losses, place, number)
      JOIN broker_message m ON m.id = c.message_id"""
DUE = "SELECT m.task_id, w.due_at FROM broker_waiting w JOIN broker_message m ON m.id = w.id WHERE w.reason = 'snooze'"


def measure(_: Mapping[str, int]) -> Figures:
    """p50 and p99 of a claim, and of the time from due to claimed: of single jobs, and of a herd."""
    figures: Figures = {}
    for name, number in (("alone", ALONE), ("herd", HERD)):
        with service(1) as ours:
            claims, late = _claims(ours, number)
        figures[f"{name}, a claim, p50 ms"] = percentile(claims, 0.5) * 1000
        figures[f"{name}, a claim, p99 ms"] = percentile(claims, 0.99) * 1000
        figures[f"{name}, due to claimed, p99 ms"] = percentile(late, 0.99) * 1000
    return figures | {
        "herd / alone, a claim, p99": figures["herd, a claim, p99 ms"] / figures["alone, a claim, p99 ms"]
    }


def _snoozed(ours: Service, number: int) -> dict[str, datetime]:
    """Snooze this number of jobs, each of another user.  -> when each is due, by its id."""
    for place in range(number):
        ours.submit(ours.user(f"u{place}"), 1)
    with ours.uow.begin() as tx:
        tx.run(text(SNOOZE), queue=QUEUE, jitter=JITTER_SECONDS, number=number)
        due = {row.task_id: row.due_at for row in tx.run(text(DUE))}
    if len(due) != number:
        raise RuntimeError(f"{len(due)} jobs snooze, not {number}")
    return due


def _claims(ours: Service, number: int) -> tuple[list[float], list[float]]:
    """Seconds of each claim that found something, and from due to claimed of each message; as a node does both."""
    due = _snoozed(ours, number)
    sql = statements(Options(listen=False))
    connection = psycopg2.connect(plain(ours.url))
    connection.autocommit = True
    cursor, took, late = connection.cursor(), [], []
    claim = {"queue": QUEUE, "count": AT_ONCE, "owner": None, "lease": 60.0, "floor": 0, "sleep": 0}
    poll = {"queues": [QUEUE], "owner": None, "settled": True, "since": None, "prefetch": None}
    taken = "SELECT task_id, broker_delete(task_id) FROM broker_message WHERE id = ANY(%s)"
    for _ in range(WARM):
        cursor.execute(sql.poll, poll)
        cursor.execute(sql.claim, claim)
    while due:
        cursor.execute(sql.poll, poll)
        began = time.monotonic()
        cursor.execute(sql.claim, claim)
        ids = [row[0] for row in cursor.fetchall()]
        if not ids:
            time.sleep(0.002)  # the next is not due yet
            continue
        took.append(time.monotonic() - began)
        now = datetime.now(UTC)
        cursor.execute(taken, (ids,))
        late += [(now - due.pop(task_id)).total_seconds() for task_id, _ in cursor.fetchall()]
    connection.close()
    return took, late
