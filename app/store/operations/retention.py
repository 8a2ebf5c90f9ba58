"""Delete what has expired and what nothing refers to any more, in batches (docs/adr/0041).

Rows are locked before they are deleted, skipping those that are locked already.  Then a statement of its own, whose
snapshot is younger than the lock, checks them again, so it sees a reference that was made in between.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row, TextClause, text

from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx

_IN_FLIGHT = "EXISTS (SELECT FROM broker_message m WHERE m.task_id = r.job_id::text)"
# The payer's row is the accept record, which the job needs as long as any user has it in their history: it loses its
# user.
_EXPIRE = text(f"""
    WITH expired AS (
        SELECT r.id, r.role, r.job_id FROM analysis_requests r
         WHERE r.id > :after AND r.id <= :upto AND r.user_id IS NOT NULL
           AND r.requested_at + make_interval(days => r.retention_days) <= :now AND NOT {_IN_FLIGHT}
           AND NOT EXISTS (SELECT FROM job_records a WHERE a.id = r.job_id AND a.status = 'running')
           FOR UPDATE SKIP LOCKED),
    dropped AS (DELETE FROM analysis_requests r USING expired e WHERE r.id = e.id AND e.role <> 'payer' RETURNING 1),
    left_behind AS (UPDATE analysis_requests r SET user_id = NULL FROM expired e
                     WHERE r.id = e.id AND e.role = 'payer' RETURNING r.job_id),
    billed AS (UPDATE usage_events u SET forgotten_at = :now FROM left_behind l
                WHERE u.job_id = l.job_id AND u.forgotten_at IS NULL)
    SELECT (SELECT count(*) FROM dropped) + (SELECT count(*) FROM left_behind)""")
_NEXT = {
    table: text(f"SELECT max(id) FROM (SELECT id FROM {table} WHERE id > :after ORDER BY id LIMIT :most) AS next")
    for table in ("analysis_requests", "file_lists", "file_inventories")
}
_HAD = """EXISTS (SELECT FROM analysis_requests o
                    WHERE o.job_id = r.job_id AND o.user_id IS NOT NULL AND o.role <> 'left')"""
# In the order of the history index, read backwards; by id alone, each batch would sort all of them.
_NOBODYS = text("""
    SELECT id FROM analysis_requests WHERE user_id IS NULL AND id > :after ORDER BY user_id DESC, id LIMIT :most""")
# A job that never started is over when it was cancelled; a dead letter's job is not, before the sweep has ended it.
# `had` implies that the accept record has no user.  The statement does not say so: the planner would look for records
# without a user by the history index, of which old statistics know none, and read all of them for each batch.
_JOBS = """
    SELECT r.job_id, CASE WHEN r.service = 'analysis' THEN a.id END AS record
      FROM analysis_requests r LEFT JOIN job_records a ON a.id = r.job_id
     WHERE {chosen} AND r.role = 'payer'
       AND r.requested_at + make_interval(days => coalesce(r.retention_days, :days)) <= :now
       AND coalesce(a.status <> 'running', r.cancelled_at IS NOT NULL) AND NOT {in_flight} AND NOT {had}
     ORDER BY r.id FOR UPDATE OF r SKIP LOCKED"""
_JOBS_BY_REQUEST = text(_JOBS.format(chosen="r.id = ANY (:ids)", in_flight=_IN_FLIGHT, had=_HAD))
_JOBS_BY_ID = text(_JOBS.format(chosen="r.job_id = ANY (CAST(:ids AS uuid[]))", in_flight=_IN_FLIGHT, had=_HAD))
_LOCK_RECORDS = text("SELECT id FROM analyses WHERE id = ANY (:ids) ORDER BY id FOR UPDATE SKIP LOCKED")
_STILL_NOBODYS = text(f"""
    SELECT r.job_id FROM analysis_requests r WHERE r.job_id = ANY (:ids) AND r.role = 'payer' AND NOT {_HAD}""")
# orphans are counted for ever: a counter that shrinks looks like new ones
_DROP_JOBS = (
    text("DELETE FROM job_events WHERE job_id = ANY (:ids) AND event <> 'reservation_orphaned'"),
    text("UPDATE usage_events SET forgotten_at = :now WHERE job_id = ANY (:ids) AND forgotten_at IS NULL"),
    text("""
        DELETE FROM branch_commits b USING analyses a
         WHERE a.id = ANY (:ids) AND b.codebase_id = a.codebase_id AND b.commit_sha = a.commit_sha
           AND NOT EXISTS (SELECT FROM analyses o WHERE o.codebase_id = b.codebase_id AND o.commit_sha = b.commit_sha
                              AND o.id <> ALL (:ids))"""),
    text("DELETE FROM analyses WHERE id = ANY (:ids)"),
    # the next result of the commit takes its place
    text("""
        UPDATE analyses SET duplicate_of = NULL WHERE id IN (
               SELECT DISTINCT ON (duplicate_of) id FROM analyses
                WHERE duplicate_of = ANY (CAST(:ids AS uuid[])) ORDER BY duplicate_of, completed_at)"""),
    text("DELETE FROM spec_documents WHERE id = ANY (:ids)"),
    text("DELETE FROM spec_requests WHERE job_id = ANY (:ids)"),
    text("DELETE FROM analysis_requests WHERE job_id = ANY (:ids)"),
)
_GIVE_UP = text("""
    UPDATE analysis_requests SET user_id = NULL, retention_days = 0
     WHERE job_id = ANY (CAST(:ids AS uuid[])) AND role = 'payer'""")
_UNLISTED = "NOT EXISTS (SELECT FROM analysis_file_lists u WHERE u.file_list_id = t.id)"
_UNUSED = "NOT EXISTS (SELECT FROM file_list_entries u WHERE u.file_inventory_id = t.id)"
_LOCK_LISTS = text(f"""
    SELECT id FROM file_lists t WHERE id > :after AND id <= :upto AND used_at < :before AND {_UNLISTED}
       FOR UPDATE SKIP LOCKED""")
_DROP_LISTS = text(f"DELETE FROM file_lists t WHERE id = ANY (:ids) AND {_UNLISTED}")
_LOCK_INVENTORIES = text(f"""
    SELECT id FROM file_inventories t WHERE id > :after AND id <= :upto AND {_UNUSED} FOR UPDATE SKIP LOCKED""")
_DROP_INVENTORIES = text(f"DELETE FROM file_inventories t WHERE id = ANY (:ids) AND {_UNUSED}")
_DROP_FACTS = text("""
    WITH next AS MATERIALIZED (
        SELECT blob_id, language, parser_version, created_at FROM blob_facts
         WHERE (blob_id, language, parser_version) > (:blob_id, :language, :parser_version)
         ORDER BY blob_id, language, parser_version LIMIT :most),
    gone AS (
        DELETE FROM blob_facts f USING next n
         WHERE f.blob_id = n.blob_id AND f.language = n.language AND f.parser_version = n.parser_version
           AND n.created_at < :before
           AND NOT EXISTS (SELECT FROM file_inventories i
                            WHERE i.blob_id = n.blob_id AND i.parser_version = n.parser_version) RETURNING 1)
    SELECT blob_id, language, parser_version, (SELECT count(*) FROM gone) AS rows FROM next
     ORDER BY blob_id DESC, language DESC, parser_version DESC LIMIT 1""")


def expire_history(tx: Tx, after: int | None, most: int, *, now: datetime) -> Batch:
    """Remove expired rows from their user's history, unless the job is in flight.

    Locks: those rows, and the usage events of the jobs that they paid for, which are never deleted.
    """
    return _windowed(
        tx,
        "analysis_requests",
        after,
        most,
        lambda begin, end: int(tx.run(_EXPIRE, after=begin, upto=end, now=now).scalar_one()),
    )


def drop_jobs(tx: Tx, after: int | None, most: int, *, days: int, now: datetime) -> Batch:
    """Delete jobs that have ended and are in no history, with record, listing and events.

    days: for those that were never in a history.  Locks: as `drop_jobs_of`.
    """
    ids = list(tx.run(_NOBODYS, after=after or 0, most=most).scalars())
    rows = _drop_jobs(tx, tx.run(_JOBS_BY_REQUEST, ids=ids, days=days, now=now).all(), now=now) if ids else 0
    return Batch(ids[-1] if ids else None, rows)


def drop_jobs_of(tx: Tx, job_ids: Sequence[UUID], *, now: datetime) -> int:
    """Drop what is left over of these jobs only.  Returns: how many.

    Locks: their accept records and records, for update, before their histories are checked again: an accept that
    answers with a record has locked it (store.analyses.lock_shared).
    """
    found = tx.run(_JOBS_BY_ID, ids=[str(job_id) for job_id in job_ids], days=0, now=now).all()
    return _drop_jobs(tx, found, now=now)


def drop_jobs_now(tx: Tx, job_ids: Sequence[UUID], *, now: datetime) -> None:
    """Delete ended jobs of one payer that nobody else has in their history: specifications.

    Locks: their accept records.  The caller has locked the users row of the payer.
    """
    if job_ids:
        tx.run(_GIVE_UP, ids=[str(job_id) for job_id in job_ids])
        drop_jobs_of(tx, job_ids, now=now)


def _drop_jobs(tx: Tx, found: Sequence[Row[Any]], *, now: datetime) -> int:
    locked = {row.id for row in tx.run(_LOCK_RECORDS, ids=[row.record for row in found if row.record])}
    free = [row.job_id for row in found if row.record is None or row.record in locked]
    gone = [row.job_id for row in tx.run(_STILL_NOBODYS, ids=free)]
    for statement in _DROP_JOBS:
        tx.write(statement, ids=gone, **({"now": now} if ":now" in statement.text else {}))
    return len(gone)


def drop_lists(tx: Tx, after: int | None, most: int, *, before: datetime) -> Batch:
    """Delete lists of files that no analysis contains and no job has stored since `before`.  Locks: those lists."""
    return _drop(tx, "file_lists", after, most, _LOCK_LISTS, _DROP_LISTS, before=before)


def drop_inventories(tx: Tx, after: int | None, most: int) -> Batch:
    """Delete tests of files that are in no list.  Locks: them; a job that makes a list has locked its contents."""
    return _drop(tx, "file_inventories", after, most, _LOCK_INVENTORIES, _DROP_INVENTORIES)


def drop_facts(tx: Tx, after: tuple[str, str, str] | None, most: int, *, before: datetime) -> Batch:
    """Delete facts older than `before` of contents that no file has.  A job that needs them parses again."""
    blob_id, language, parser_version = after or ("", "", "")
    key = {"blob_id": blob_id, "language": language, "parser_version": parser_version}
    last = tx.run(_DROP_FACTS, most=most, before=before, **key).one_or_none()
    return Batch(None, 0) if last is None else Batch((last.blob_id, last.language, last.parser_version), last.rows)


def _drop(
    tx: Tx, table: str, after: int | None, most: int, lock: TextClause, drop: TextClause, **bounds: object
) -> Batch:
    def window(begin: int, end: int) -> int:
        locked = list(tx.run(lock, after=begin, upto=end, **bounds).scalars())
        return tx.run(drop, ids=locked).rowcount if locked else 0

    return _windowed(tx, table, after, most, window)


def _windowed(tx: Tx, table: str, after: int | None, most: int, change: Any) -> Batch:
    begin = after or 0
    end = tx.run(_NEXT[table], after=begin, most=most).scalar_one()
    return Batch(None, 0) if end is None else Batch(end, change(begin, end))
