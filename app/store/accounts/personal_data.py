"""Remove a person from every table; bills are kept without a user (docs/adr/0042)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.accounts.open_sessions import Way
from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx

#: What the audit log shows instead of a deleted user; the trigger on users writes it into older entries
#: (sql/audit_log.sql).
NOBODY = "deleted account"

# Each table that leads to a user, by what becomes of its rows (tests/contract/test_forgetting.py: none is missing).
#: What lets somebody in as this user: gone when the account is closed, and when its address is first verified.
WAYS_IN = (
    "passwords", "passkeys", "github_links", "one_time_secrets", "api_tokens", "sessions", "sign_in_links",
)  # fmt: skip
#: Whatever sends or gives something to whoever made it: deleted when the address is first verified.
REACHES = ("webhook_deliveries", "webhooks", "spec_shares", "idempotency_keys")
#: What the account has and did, which is of no use to anybody who cannot get in.
STAYS = (
    "analysis_requests", "bookmarks", "execution_slots", "model_shares", "quota_reservations", "spec_documents",
    "spec_features", "spec_requests", "spec_words", "usage_events", "usage_sums", "user_subscriptions",
)  # fmt: skip
#: Where the table has no user.
_OF_USER = {
    "webhook_deliveries": "webhook_id IN (SELECT id FROM webhooks WHERE user_id = :user_id)",
    "spec_shares": "document_id IN (SELECT id FROM spec_documents WHERE user_id = :user_id)",
}
_DELETE = {
    table: text(f"DELETE FROM {table} WHERE {_OF_USER.get(table, 'user_id = :user_id')}")
    for table in (*WAYS_IN, *REACHES)
}
_OTHER_PASSKEYS = text("DELETE FROM passkeys WHERE user_id = :user_id AND CAST(id AS text) <> :kept")
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
_FORGET = text("SELECT broker_forget(CAST(:user_id AS text))")
# A job that the user only carried for others continues without a slot; the next choice of carriers gives it to one of
# them.
_CARRIED = (
    text("""
        SELECT carry_job(m.task_id, NULL, q.name, NULL, m.step, 0)
          FROM broker_message m JOIN broker_queue q ON q.id = m.queue_id
         WHERE m.group_name = CAST(:user_id AS text) AND m.lease_token IS NULL"""),
    _FORGET,
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
    SELECT job_id, codebase_id, role = 'payer' AS was_payer FROM mine""")
# The bill is kept for ever and identifies nobody: it has no user, no job id that occurs elsewhere, and only the day.
_BILLS = text("""
    WITH mine AS (SELECT id FROM usage_events WHERE user_id = :user_id ORDER BY id LIMIT :most FOR UPDATE)
    UPDATE usage_events u
       SET user_id = NULL, job_id = gen_random_uuid(), resource_id = gen_random_uuid(),
           accepted_at = date_trunc('day', u.accepted_at), created_at = date_trunc('day', u.created_at),
           forgotten_at = date_trunc('day', clock_timestamp())
      FROM mine WHERE u.id = mine.id""")
_NUMBERS = text("""
    UPDATE job_events SET facts = facts - CAST('{quota,request_id,traceparent}' AS text[])
     WHERE job_id = ANY (:job_ids) AND facts ?| CAST('{quota,request_id,traceparent}' AS text[])""")
# The payer of a job may be another user by now, or about to arrive from another cell (docs/adr/0097).
_NOBODYS = text("""
    SELECT job_id FROM analysis_requests
     WHERE job_id = ANY (CAST(:job_ids AS uuid[])) AND role = 'payer' AND user_id IS NULL
     ORDER BY id FOR NO KEY UPDATE""")
_TRACES = (
    text("DELETE FROM rate_buckets WHERE strpos(key, CAST(:user_id AS text)) > 0"),
    text("""
        UPDATE reconciliations r SET differences = (
               SELECT coalesce(jsonb_agg(d), '[]') FROM jsonb_array_elements(r.differences) AS d
                WHERE d->>'user_id' <> CAST(:user_id AS text))
         WHERE strpos(CAST(r.differences AS text), CAST(:user_id AS text)) > 0"""),
)
_REST = (
    text("DELETE FROM arrivals WHERE account_id = :user_id"),
    text("DELETE FROM users WHERE id = :user_id"),
)


class UnfinishedJobRow(NamedTuple):
    """An unfinished job of a user.  started: whether it has a record."""

    job_id: UUID
    started: bool


class LeftRequestRow(NamedTuple):
    """A request that has lost its user.  was_payer: the job was accepted for it."""

    job_id: UUID
    codebase_id: UUID
    was_payer: bool


def close(tx: Tx, user_id: UUID) -> None:
    """Let nobody sign in as this user any more."""
    for table in WAYS_IN:
        tx.write(_DELETE[table], user_id=user_id)


def shut_out(tx: Tx, user_id: UUID, *, kept: str | None) -> dict[str, int]:
    """Delete whatever lets somebody act as this user, or sends them data of the account.

    kept: the way in that stays: a Way, the id of a passkey, or None.
    Returns: how many rows each table had.  Locks: the rows of these tables, after the users row, which the caller has
    locked; deliveries before their webhooks, as a worker that delivers.
    """
    stays = {str(Way.PASSWORD): "passwords", str(Way.GITHUB): "github_links"}.get(kept or "")
    gone = {}
    for table in (*WAYS_IN, *REACHES):
        if table == "passkeys" and kept:
            gone[table] = tx.run(_OTHER_PASSKEYS, user_id=user_id, kept=kept).rowcount
        elif table != stays:
            gone[table] = tx.run(_DELETE[table], user_id=user_id).rowcount
    return {table: rows for table, rows in gone.items() if rows}


def messages_of(tx: Tx, user_id: UUID, jobs: Iterable[UUID]) -> list[UnfinishedJobRow]:
    """Unfinished jobs that the user pays for, whoever else wants or carries them.

    jobs: from the history that the user has already left.
    Locks: their messages, after the users row, which the caller has locked.
    """
    return tx.run(_MESSAGES, user_id=user_id, jobs=[str(job_id) for job_id in jobs]).values(UnfinishedJobRow)


def put_down(tx: Tx, user_id: UUID) -> None:
    """Let the jobs continue that the user carries for others.  Locks: their messages."""
    for statement in _CARRIED:
        tx.write(statement, user_id=user_id)


def drop_letters(tx: Tx, user_id: UUID) -> list[UUID]:
    """Delete the user's dead letters, which contain requests.  Returns: their jobs."""
    return [row.job_id for row in tx.run(_LETTERS, user_id=user_id)]


def leave_history(tx: Tx, user_id: UUID, most: int) -> list[LeftRequestRow]:
    """Remove the user from the requests, `most` at a time.  Returns: those; none if these were all.

    An accept record loses its user and expires at once, unless the job is in another user's history or in flight.
    """
    found = tx.run(_HISTORY, user_id=user_id, most=most).values(LeftRequestRow)
    if paid := [row.job_id for row in found if row.was_payer]:
        tx.write(_NUMBERS, job_ids=paid)
    return found


def leave_bills(tx: Tx, user_id: UUID, most: int) -> Batch:
    """Remove the user from their bills."""
    rows = tx.run(_BILLS, user_id=user_id, most=most).rowcount
    return Batch(rows if rows == most else None, rows)


def leave_numbers(tx: Tx, job_ids: Iterable[UUID]) -> None:
    """Remove what only their payer may know from the timelines of those jobs that have no payer any more.

    Locks: their accept records.
    """
    nobodys = list(tx.run(_NOBODYS, job_ids=[str(job_id) for job_id in job_ids]).scalars())
    tx.write(_NUMBERS, job_ids=nobodys)


def drop_traces(tx: Tx, user_id: UUID) -> None:
    """Remove a user who is not here any more from the rate limit, parked groups and the reconciliations."""
    for statement in (*_TRACES, _FORGET):
        tx.write(statement, user_id=user_id)


def drop(tx: Tx, user_id: UUID) -> None:
    """Delete the user and everything else that names them.  Rows that refer to the user are deleted with it."""
    for statement in (*_TRACES, *_REST):
        tx.write(statement, user_id=user_id)
