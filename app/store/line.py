"""Where a ready job stands in its queue, and how long jobs took of late."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.domain.waiting import Line
from app.store.unit_of_work import Tx

#: Counting stops there: past that nobody reads the difference, and an accept must not cost more the more jobs wait.
MOST = 1_000

_LINE = text("""
    WITH me AS MATERIALIZED (
        SELECT m.id, m.queue_id, m.user_id, m.rank, coalesce(m.visible_at, m.enqueued_at) AS ready_at, q.paused_at
          FROM kombu_message m JOIN kombu_queue q ON q.id = m.queue_id WHERE m.task_id = :task_id),
    ahead AS MATERIALIZED (
        SELECT user_id, coalesce(visible_at, enqueued_at) AS ready_at FROM kombu_message
         WHERE queue_id = (SELECT queue_id FROM me) AND visible
           AND (rank, id) < ((SELECT rank FROM me), (SELECT id FROM me))
         ORDER BY rank, id LIMIT :most)
    SELECT me.paused_at, coalesce(first.oldest, me.ready_at) AS oldest, first.ahead, first.own,
           (SELECT count(*) FROM kombu_message WHERE queue_id = me.queue_id AND started_at IS NOT NULL) AS workers,
           (SELECT percentile_cont(ARRAY[0.1, 0.5, 0.9]) WITHIN GROUP (ORDER BY seconds) FROM (
                SELECT extract(epoch FROM completed_at - started_at) AS seconds FROM analyses
                 WHERE status = 'completed' ORDER BY completed_at DESC LIMIT 50) AS recent) AS run_seconds
      FROM me, (SELECT count(*) AS ahead, count(*) FILTER (WHERE user_id = (SELECT user_id FROM me)) AS own,
                       min(ready_at) AS oldest FROM ahead) AS first""")


def line(tx: Tx, job_id: UUID, *, now: datetime) -> Line | None:
    """Where an unfinished, ready job stands; None when its message is gone."""
    row = tx.run(_LINE, task_id=str(job_id), most=MOST).one_or_none()
    if row is None:
        return None
    return Line(
        position=int(row.ahead) + 1,
        own=int(row.own),
        workers=int(row.workers),
        head_age_seconds=(now - row.oldest).total_seconds(),
        paused=row.paused_at is not None,
        run_seconds=None if row.run_seconds is None else tuple(map(float, row.run_seconds)),
        more=row.ahead >= MOST,
    )
