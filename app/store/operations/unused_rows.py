"""Rows that are no longer needed: repositories nobody views, visitors who did not come back, dead letters."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx
from app.store.operations.dead_letters import UUID_PATTERN

NONE = UUID(int=0)

_NEXT = {
    table: text(f"SELECT id FROM {table} WHERE id > :after ORDER BY id LIMIT :most") for table in ("codebases", "users")
}
_UNASKED = """NOT EXISTS (SELECT FROM analysis_requests r WHERE r.codebase_id = t.id)
       AND NOT EXISTS (SELECT FROM analyses a WHERE a.codebase_id = t.id)
       AND (t.is_private OR NOT EXISTS (SELECT FROM bookmarks b WHERE b.codebase_id = t.id))"""
_LOCK_CODEBASES = text(f"""
    SELECT id FROM codebases t
     WHERE id = ANY (CAST(:ids AS uuid[])) AND (is_private OR coalesce(last_viewed_at, created_at) < :before)
       AND {_UNASKED} ORDER BY id FOR UPDATE SKIP LOCKED""")
_DROP_CODEBASES = text(f"DELETE FROM codebases t WHERE id = ANY (:ids) AND {_UNASKED}")
# The bills of the current period limit what they may still use.
_GONE = """kind = 'anonymous' AND created_at < :before
       AND NOT EXISTS (SELECT FROM analysis_requests r WHERE r.user_id = t.id)
       AND NOT EXISTS (SELECT FROM quota_reservations q WHERE q.user_id = t.id)
       AND NOT EXISTS (SELECT FROM execution_slots s WHERE s.user_id = t.id)
       AND NOT EXISTS (SELECT FROM usage_events u WHERE u.user_id = t.id AND u.accepted_at >= :before)"""
_LOCK_VISITORS = text(f"""
    SELECT id FROM users t WHERE id = ANY (CAST(:ids AS uuid[])) AND {_GONE} ORDER BY id FOR UPDATE SKIP LOCKED""")
_DROP_VISITORS = text(f"DELETE FROM users t WHERE id = ANY (:ids) AND {_GONE}")
_DROP_LETTERS = text("""
    WITH old AS MATERIALIZED (
        SELECT d.id FROM broker_dead_letter d
         WHERE d.id > :after AND d.died_at < :before
           AND NOT EXISTS (SELECT FROM job_records a
                            WHERE a.id = CASE WHEN d.task_id ~ :uuid THEN CAST(d.task_id AS uuid) END
                              AND a.status = 'running')
         ORDER BY d.id LIMIT :most FOR UPDATE SKIP LOCKED),
    gone AS (DELETE FROM broker_dead_letter d USING old WHERE d.id = old.id)
    SELECT count(*) AS rows, max(id) AS last FROM old""")
_DROP_RECONCILIATIONS = text("DELETE FROM reconciliations WHERE ran_at < :before")
_DROP_DAYS = text("DELETE FROM reconciled_days WHERE day < :before")
_DROP_CLOCKS = text("DELETE FROM host_clocks WHERE measured_at < clock_timestamp() - interval '1 day'")


def drop_codebases(tx: Tx, after: UUID | None, most: int, *, before: datetime) -> Batch:
    """Delete repositories without a job that were not viewed since then, and private ones, which nobody may see.

    A bookmark keeps a public one.

    Locks: as `drop_codebases_of`.
    """
    ids = list(tx.run(_NEXT["codebases"], after=after or NONE, most=most).scalars())
    return Batch(ids[-1] if ids else None, drop_codebases_of(tx, ids, before=before))


def drop_codebases_of(tx: Tx, ids: Sequence[UUID], *, before: datetime) -> int:
    """Drop what is left over of these repositories only.  Returns: how many.

    Locks: them.  An accept that comes too late to lock one violates its foreign key, and runs again (`retried`).
    """
    locked = list(tx.run(_LOCK_CODEBASES, ids=[str(one) for one in ids], before=before).scalars())
    return tx.run(_DROP_CODEBASES, ids=locked).rowcount if locked else 0


def drop_visitors(tx: Tx, after: UUID | None, most: int, *, before: datetime) -> Batch:
    """Delete anonymous visitors without history or a bill since then.  Locks: users rows, skipping locked ones."""
    ids = list(tx.run(_NEXT["users"], after=after or NONE, most=most).scalars())
    locked = list(tx.run(_LOCK_VISITORS, ids=[str(one) for one in ids], before=before).scalars())
    rows = tx.run(_DROP_VISITORS, ids=locked, before=before).rowcount if locked else 0
    return Batch(ids[-1] if ids else None, rows)


def drop_letters(tx: Tx, after: int | None, most: int, *, before: datetime) -> Batch:
    """Delete older dead letters, unless the sweep still has to end the job.  Locks: those letters."""
    row = tx.run(_DROP_LETTERS, after=after or 0, most=most, before=before, uuid=UUID_PATTERN).one()
    return Batch(row.last if row.rows == most else None, row.rows)


def drop_reconciliations(tx: Tx, *, before: datetime) -> int:
    """Delete old reconciliations, of which there is one a day, and days.  Returns: how many reconciliations."""
    tx.write(_DROP_DAYS, before=before)
    return tx.run(_DROP_RECONCILIATIONS, before=before).rowcount


def drop_clocks(tx: Tx) -> int:
    """Delete hosts that no longer exist.  Returns: how many."""
    return tx.run(_DROP_CLOCKS).rowcount
