"""Messages the broker gave up."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import text

from app.store.unit_of_work import Tx

_UUID = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
# A task id is a uuid only where the message was ours; anything may have been inserted into the queue.  It is this id
# that is cast and not every job's, which no index could serve.
_UNFINISHED = text("""
    SELECT r.job_id FROM kombu_dead_letter d
      JOIN analysis_requests r ON r.job_id = CASE WHEN d.task_id ~ :uuid THEN CAST(d.task_id AS uuid) END
           AND r.role = 'payer' AND r.cancelled_at IS NULL
     WHERE NOT EXISTS (SELECT FROM kombu_message m WHERE m.task_id = d.task_id)
       AND NOT EXISTS (SELECT FROM analyses a WHERE a.id = r.job_id AND a.status <> 'running')
     GROUP BY r.job_id ORDER BY r.job_id LIMIT 1000""")


def unfinished_jobs(tx: Tx) -> list[UUID]:
    """Jobs whose message is dead but whose end nobody has written yet."""
    return list(tx.run(_UNFINISHED, uuid=_UUID).scalars())
