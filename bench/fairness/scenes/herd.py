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
#: Everything becomes due evenly over a jitter, beginning in a second, as snoozes would.
SNOOZE = """
    UPDATE kombu_message m
       SET visible = false, delay_reason = 'snooze', rank = NULL,
           visible_at = clock_timestamp() + make_interval(secs => 1 + :jitter * n.place / :number)
      FROM (SELECT id, row_number() OVER (ORDER BY id) AS place FROM kombu_message) AS n WHERE n.id = m.id"""


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


def _claims(ours: Service, number: int) -> tuple[list[float], list[float]]:
    """Seconds of each claim that found something, and from due to claimed of each message; as a node does both."""
    for place in range(number):
        ours.submit(ours.user(f"u{place}"), 1)
    with ours.uow.begin() as tx:
        tx.run(text(SNOOZE), jitter=JITTER_SECONDS, number=number)
        due = {row.task_id: row.visible_at for row in tx.run(text("SELECT task_id, visible_at FROM kombu_message"))}
    sql = statements(Options(listen=False))
    connection = psycopg2.connect(plain(ours.url))
    connection.autocommit = True
    cursor, took, late = connection.cursor(), [], []
    claim = {"queue": "analysis_default", "count": AT_ONCE, "owner": None, "lease": 60.0, "floor": 0, "sleep": 0}
    poll = {"queues": ["analysis_default"], "owner": None, "settled": True, "since": None, "prefetch": None}
    taken = "DELETE FROM kombu_message WHERE id = ANY(%s) RETURNING task_id"
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
        late += [(now - due.pop(task_id)).total_seconds() for (task_id,) in cursor.fetchall()]
    connection.close()
    return took, late
