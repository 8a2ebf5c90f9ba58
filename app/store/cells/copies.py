"""What was copied of jobs: held while an account arrives with them, kept for a specification, or let expire."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.cells.rows import array
from app.store.core.unit_of_work import OvertakenError, Tx

_FOUND = text("""
    WITH specified AS (
        SELECT analysis_id AS id FROM spec_requests WHERE user_id = :user_id
         UNION SELECT analysis_id FROM spec_documents WHERE user_id = :user_id)
    SELECT r.job_id, r.retention_days AS days, r.job_id IN (SELECT id FROM specified) AS is_specified,
           EXISTS (SELECT FROM job_records a WHERE a.id = r.job_id AND a.status <> 'running') AS has_record,
           EXISTS (SELECT FROM job_events e WHERE e.job_id = r.job_id) AS has_events
      FROM analysis_requests r WHERE r.job_id = ANY (CAST(:jobs AS uuid[])) AND r.role = 'payer'""")
# Not the accept records: who changes the user of one, as a prune or a deletion, would wait.
_HOLD = text("SELECT id FROM analyses WHERE id = ANY (CAST(:jobs AS uuid[])) ORDER BY id FOR KEY SHARE")
_KEEP = text("""
    WITH free AS (
        SELECT a.id, k.days FROM unnest(CAST(:jobs AS uuid[]), CAST(:days AS integer[])) AS k(job_id, days)
          JOIN analysis_requests a ON a.job_id = k.job_id AND a.role = 'payer' AND a.user_id IS NULL
         WHERE coalesce(k.days > a.retention_days, k.days IS NULL) FOR UPDATE OF a SKIP LOCKED)
    UPDATE analysis_requests a SET retention_days = free.days FROM free WHERE a.id = free.id""")
_NEEDED = text("""
    SELECT analysis_id FROM spec_requests WHERE analysis_id = ANY (CAST(:jobs AS uuid[])) AND user_id IS NOT NULL
     UNION
    SELECT analysis_id FROM spec_documents WHERE analysis_id = ANY (CAST(:jobs AS uuid[])) AND user_id IS NOT NULL""")
# What another account is about to get, or somebody else changes, is left to them.
_LOCK = text("""
    SELECT job_id FROM analysis_requests
     WHERE job_id = ANY (CAST(:jobs AS uuid[])) AND role = 'payer' AND user_id IS NULL
     ORDER BY id FOR UPDATE SKIP LOCKED""")
# The results of the schedule are this cell's own.
_EXPIRE = text("""
    UPDATE analysis_requests SET retention_days = 0
     WHERE job_id = ANY (CAST(:jobs AS uuid[])) AND role = 'payer' AND user_id IS NULL
       AND trigger IS DISTINCT FROM 'scheduled' RETURNING job_id""")


class CopyRow(NamedTuple):
    """What a cell has of a job.  days: how long its accept record is kept; is_specified: by the user."""

    job_id: UUID
    days: int | None
    is_specified: bool
    has_record: bool
    has_events: bool


def found(tx: Tx, jobs: Collection[UUID], user_id: UUID | None = None) -> list[CopyRow]:
    """Look at the jobs that have an accept record here; a specification may be of an analysis that has gone."""
    return tx.run(_FOUND, jobs=array(jobs), user_id=user_id).values(CopyRow) if jobs else []


def hold(tx: Tx, rows: Sequence[CopyRow]) -> None:
    """Keep what was copied of jobs until this transaction ends, and what is specified for as long as its payer does.

    rows: what the other cell has of them.
    Locks: the analyses, for which only pruning waits, and it skips them; specifications have one payer, who gets them.
    Raises: OvertakenError if something was dropped since, for an account that did not come.
    """
    if not rows:
        return
    ids = [row.job_id for row in rows]
    tx.run(_HOLD, jobs=array(ids))
    here = {row.job_id: row for row in found(tx, ids)}
    for row in rows:
        copy = here.get(row.job_id)
        if copy is None or copy.has_record < row.has_record or copy.has_events < row.has_events:
            raise OvertakenError
    keep(tx, [row for row in rows if row.is_specified])


def keep(tx: Tx, rows: Sequence[CopyRow]) -> None:
    """Keep nobody's accept records for as long as the other cell does, if that is longer."""
    if rows:
        days = array("NULL" if row.days is None else row.days for row in rows)
        tx.write(_KEEP, jobs=array(row.job_id for row in rows), days=days)


def needed(tx: Tx, jobs: Collection[UUID]) -> set[UUID]:
    """Analyses of which somebody here has a specification, or has asked for one."""
    return set(tx.run(_NEEDED, jobs=array(jobs)).scalars())


def lock(tx: Tx, jobs: Collection[UUID]) -> list[UUID]:
    """Choose those of the jobs whose accept record is nobody's.  Locks: that; one that is locked is left out."""
    return list(tx.run(_LOCK, jobs=array(jobs)).scalars())


def expire(tx: Tx, jobs: Collection[UUID]) -> list[UUID]:
    """Let copied accept records expire whose account did not come.  -> of which jobs."""
    return list(tx.run(_EXPIRE, jobs=array(jobs)).scalars())
