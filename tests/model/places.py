"""How long a job would wait in somebody's line, counted from the rows of the queue one by one (docs/adr/0046)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

LINED = """
    SELECT m.id, m.task_id, q.name AS queue, m.user_id, m.visible, m.rank, m.delay_reason, m.started_at,
           coalesce(s.lease_token = m.lease_token, false) AS slot
      FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id
      LEFT JOIN execution_slots s ON s.job_id = CAST(m.task_id AS uuid)"""
#: Where the next message of each user would stand in each queue, by the broker.
NEXT = """
    SELECT u.id AS user_id, q.name AS queue,
           greatest(durable_rank(q.id, CAST(u.id AS text),
                                       CAST(least(100000, greatest(1, round(100 * coalesce(u.run_seconds, 1)))) AS integer)),
                    g.rank) AS rank
      FROM users u CROSS JOIN kombu_queue q
      LEFT JOIN kombu_group g ON g.queue_id = q.id AND g.name = CAST(u.id AS text)
     WHERE starts_with(q.name, 'analysis_')"""
Row = Mapping[str, Any]


def runs_before(rows: Sequence[Row], nexts: Sequence[Row], job_id: str, user: str, queue: str, slots: int) -> float:
    """Of the user's own, as many at a time as slots; then of all that is ready, as many as run there."""
    (me,) = (row for row in rows if row["task_id"] == job_id)
    rest = [row for row in rows if row is not me]
    stands = me["visible"] and (me["queue"], me["user_id"]) == (queue, user)
    (rank,) = (row["rank"] for row in nexts if (str(row["user_id"]), row["queue"]) == (user, queue))
    place = (me["rank"] if stands else rank, me["id"])
    ready = [row for row in rest if row["queue"] == queue and row["visible"]]
    ahead = [row for row in ready if (row["rank"], row["id"]) < place]
    own = sum(row["slot"] for row in rest if row["user_id"] == user)
    own += sum(row["user_id"] == user for row in (ahead if stands else ready))
    if not stands:
        mine = [row for row in rest if (row["queue"], row["user_id"]) == (queue, user)]
        own += sum(row["delay_reason"] in ("parked", "snooze") and row["id"] < me["id"] for row in mine)
    workers = sum(row["started_at"] is not None for row in rows if row["queue"] == queue)
    return float(own // slots + len(ahead) / max(1, workers))
