"""Remove a person from every table; bills are kept without a user (docs/adr/0042)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from uuid import UUID

from sqlalchemy import Row, text

from app.store.batch import Batch
from app.store.unit_of_work import Tx

#: What the audit log shows instead of a deleted user.
NOBODY = "deleted account"

_CLOSE = (
    text("DELETE FROM passwords WHERE user_id = :user_id"),
    text("DELETE FROM passkeys WHERE user_id = :user_id"),
    text("DELETE FROM github_links WHERE user_id = :user_id"),
    text("DELETE FROM one_time_secrets WHERE user_id = :user_id"),
    text("DELETE FROM api_tokens WHERE user_id = :user_id"),
    text("DELETE FROM sessions WHERE user_id = :user_id"),
    text("DELETE FROM sign_in_links WHERE user_id = :user_id"),
)
# Accept records that the user has already left have no user; those of the schedule never had one.
_MESSAGES = text("""
    SELECT m.task_id::uuid AS job_id, a.id IS NOT NULL AS started
      FROM broker_message m LEFT JOIN job_records a ON a.id = m.task_id::uuid
     WHERE (m.group_name = CAST(:user_id AS text) OR m.task_id = ANY (CAST(:jobs AS text[])) OR m.task_id IN (
               SELECT job_id::text FROM quota_reservations WHERE user_id = :user_id))
       AND NOT EXISTS (SELECT FROM analysis_requests r
                        WHERE r.job_id = m.task_id::uuid AND r.role = 'payer'
                          AND (r.user_id <> :user_id OR r.trigger = 'scheduled'))
     ORDER BY m.task_id FOR UPDATE OF m""")
# A job that the user only carried for others continues without a slot; the next choice of carriers gives it to one of
# them.
_CARRIED = (
    text("""
        SELECT carry_job(m.task_id, NULL, q.name, NULL, m.step, 0)
          FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id
         WHERE m.group_name = CAST(:user_id AS text) AND m.lease_token IS NULL"""),
    text("SELECT broker_forget(CAST(:user_id AS text))"),
)
_LETTERS = text("""
    DELETE FROM broker_dead_letter WHERE group_name = CAST(:user_id AS text) RETURNING task_id::uuid AS job_id""")
# Requests of the last moment are handled by the last call, under the lock on the user.
_HISTORY = text("""
    WITH mine AS (SELECT id, role, job_id, codebase_id FROM analysis_requests
                   WHERE user_id = :user_id ORDER BY id LIMIT :most FOR UPDATE),
    dropped AS (DELETE FROM analysis_requests r USING mine m WHERE r.id = m.id AND m.role <> 'payer'),
    left_behind AS (UPDATE analysis_requests r SET user_id = NULL, retention_days = 0 FROM mine m
                     WHERE r.id = m.id AND m.role = 'payer')
    SELECT job_id, codebase_id FROM mine""")
# The bill is kept for ever and identifies nobody: it has no user, no job id that occurs elsewhere, and only the day.
_BILLS = text("""
    WITH mine AS (SELECT id FROM usage_events WHERE user_id = :user_id ORDER BY id LIMIT :most FOR UPDATE)
    UPDATE usage_events u
       SET user_id = NULL, job_id = gen_random_uuid(), resource_id = gen_random_uuid(),
           accepted_at = date_trunc('day', u.accepted_at), created_at = date_trunc('day', u.created_at),
           forgotten_at = date_trunc('day', clock_timestamp())
      FROM mine WHERE u.id = mine.id""")
_NUMBERS = text("UPDATE job_events SET facts = facts - 'quota' WHERE job_id = ANY (:job_ids) AND facts ? 'quota'")
_REST = (
    text("DELETE FROM rate_buckets WHERE strpos(key, CAST(:user_id AS text)) > 0"),
    text("""
        UPDATE audit_log SET actor = CASE WHEN actor IN (CAST(:user_id AS text), :email) THEN :nobody ELSE actor END,
               subject = CASE WHEN subject IN (CAST(:user_id AS text), :email) THEN :nobody ELSE subject END,
               facts = CASE WHEN strpos(CAST(facts AS text), CAST(:user_id AS text)) > 0
                              OR strpos(lower(CAST(facts AS text)), lower(:email)) > 0 THEN '{}' ELSE facts END
         WHERE actor IN (CAST(:user_id AS text), :email) OR subject IN (CAST(:user_id AS text), :email)
            OR strpos(CAST(facts AS text), CAST(:user_id AS text)) > 0
            OR strpos(lower(CAST(facts AS text)), lower(:email)) > 0"""),
    text("""
        UPDATE reconciliations r SET differences = (
               SELECT coalesce(jsonb_agg(d), '[]') FROM jsonb_array_elements(r.differences) AS d
                WHERE d->>'user_id' <> CAST(:user_id AS text))
         WHERE strpos(CAST(r.differences AS text), CAST(:user_id AS text)) > 0"""),
    text("DELETE FROM users WHERE id = :user_id"),
)


def close(tx: Tx, user_id: UUID) -> None:
    """Let nobody sign in as this user any more."""
    for statement in _CLOSE:
        tx.write(statement, user_id=user_id)


def messages_of(tx: Tx, user_id: UUID, jobs: Iterable[UUID]) -> list[Row[Any]]:
    """Unfinished jobs that the user pays for, whoever else wants or carries them.  rows: job_id, started.

    jobs: from the history that the user has already left.
    Locks: their messages, after the users row, which the caller has locked.
    """
    return list(tx.run(_MESSAGES, user_id=user_id, jobs=[str(job_id) for job_id in jobs]).all())


def put_down(tx: Tx, user_id: UUID) -> None:
    """Let the jobs continue that the user carries for others.  Locks: their messages."""
    for statement in _CARRIED:
        tx.write(statement, user_id=user_id)


def drop_letters(tx: Tx, user_id: UUID) -> list[UUID]:
    """Delete the user's dead letters, which contain requests.  Returns: their jobs."""
    return [row.job_id for row in tx.run(_LETTERS, user_id=user_id)]


def leave_history(tx: Tx, user_id: UUID, most: int) -> list[Row[Any]]:
    """Remove the user from the requests, `most` at a time.  rows: job_id, codebase_id; none: these were all.

    An accept record loses its user and expires at once, unless the job is in another user's history or in flight.
    """
    found = list(tx.run(_HISTORY, user_id=user_id, most=most).all())
    if found:
        tx.write(_NUMBERS, job_ids=[row.job_id for row in found])
    return found


def leave_bills(tx: Tx, user_id: UUID, most: int) -> Batch:
    """Remove the user from their bills."""
    rows = tx.run(_BILLS, user_id=user_id, most=most).rowcount
    return Batch(rows if rows == most else None, rows)


def drop(tx: Tx, user_id: UUID, email: str | None) -> None:
    """Delete the user and everything else that names them.  Rows that refer to the user are deleted with it."""
    for statement in _REST:
        names = {"email": email or "", "nobody": NOBODY} if ":email" in statement.text else {}
        tx.write(statement, user_id=user_id, **names)
