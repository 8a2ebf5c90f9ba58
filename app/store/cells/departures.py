"""The last step in the cell that an account leaves: what is its own is read and deleted, under the lock on the user."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.cells.early_rows import Bills, take_bills
from app.store.cells.rows import JsonRows, array, gather, select, taking
from app.store.cells.tables import OWN
from app.store.core.unit_of_work import Tx

_OF_USER = {
    "webhook_deliveries": "webhook_id IN (SELECT id FROM webhooks WHERE user_id = :user_id)",
    "spec_shares": "document_id IN (SELECT id FROM spec_documents WHERE user_id = :user_id)",
    "users": "id = :user_id",
}
#: Tables with an identity, which keep the order of their rows.
_IN_ORDER = frozenset({"bookmarks", "user_subscriptions", "webhook_deliveries"})
_TAKE = {
    table: taking(table, _OF_USER.get(table, "user_id = :user_id"), "id" if table in _IN_ORDER else "")
    for table in OWN if table != "usage_events"
}  # fmt: skip
# Else the trigger on the bills would write each sum as often as it has bills.
_SUMS = text("DELETE FROM usage_sums WHERE user_id = :user_id")
# Who asked for a job that goes on here for others had left it.  Those that are there are only given their user.
_REQUESTS = text(f"""
    WITH moved AS (
        SELECT * FROM analysis_requests
         WHERE user_id = :user_id
           AND job_id <> ALL (CAST(:staying AS uuid[])) AND id <> ALL (CAST(:placed AS bigint[])))
    {gather("moved", "id")}""")
_LEAVE = (
    text("""
        DELETE FROM analysis_requests
         WHERE user_id = :user_id AND (role <> 'payer' OR job_id = ANY (CAST(:going AS uuid[])))"""),
    text("UPDATE analysis_requests SET user_id = NULL, retention_days = 0 WHERE user_id = :user_id"),
)
_CODEBASES = text(f"""
    WITH known AS (
        SELECT * FROM codebases WHERE id IN (SELECT codebase_id FROM analysis_requests WHERE user_id = :user_id
                                              UNION SELECT codebase_id FROM bookmarks WHERE user_id = :user_id
                                              UNION SELECT codebase_id FROM spec_words WHERE user_id = :user_id))
    {gather("known", "id")}""")
_SPEC_REQUESTS = text("SELECT job_id FROM spec_requests WHERE user_id = :user_id FOR UPDATE")
_DOCUMENTS = text("SELECT id FROM spec_documents WHERE user_id = :user_id FOR UPDATE")
_NOTES = text(f"""
    WITH told AS (SELECT l.* FROM audit_log l JOIN users u ON u.id = :user_id
                   WHERE l.subject IN (CAST(u.id AS text), u.email))
    {gather("told", "id")}""")
# Of a message that a node holds, its lease ends with this; the attempt changes nothing any more.
_UNFINISHED = text("""
    SELECT m.task_id::uuid AS job_id, q.name AS queue, m.unique_key, m.step, m.is_ready,
           m.lease_token IS NOT NULL AS is_leased, m.delay_reason, greatest(0, extract(
               epoch FROM m.ready_at - clock_timestamp()))::float8 AS delay_seconds,
           m.cancel_requested_at IS NOT NULL AS is_cancelled, m.retry_count, m.lost_count, a.service, a.commit_sha,
           c.host, c.owner, c.name, mine.role = 'left' AS has_left,
           EXISTS (SELECT FROM analysis_requests o
                    WHERE o.job_id = a.job_id AND o.user_id IS DISTINCT FROM :user_id AND o.role <> 'left') AS is_shared
      FROM broker_message m
      JOIN analysis_requests mine ON mine.job_id = m.task_id::uuid AND mine.user_id = :user_id
      JOIN analysis_requests a ON a.job_id = mine.job_id AND a.role = 'payer'
      JOIN codebases c ON c.id = a.codebase_id JOIN broker_queue q ON q.id = m.queue_id
     WHERE m.task_id = ANY (ARRAY(SELECT CAST(job_id AS text) FROM analysis_requests WHERE user_id = :user_id))
     ORDER BY m.lease_token IS NULL, m.is_ready DESC, m.rank, m.id""")
_LOCK = text("""
    SELECT FROM broker_message m
     WHERE m.task_id = ANY (ARRAY(SELECT CAST(job_id AS text) FROM analysis_requests WHERE user_id = :user_id))
     ORDER BY m.id FOR UPDATE OF m""")
_LETTERS = text("""
    SELECT r.job_id FROM broker_dead_letter d
      JOIN analysis_requests r ON r.job_id = CAST(d.task_id AS uuid) AND r.role = 'payer'
      LEFT JOIN job_records a ON a.id = r.job_id
     WHERE d.group_name = CAST(:user_id AS text) AND NOT coalesce(a.status <> 'running', r.cancelled_at IS NOT NULL)""")
_DROP_LETTERS = text("DELETE FROM broker_dead_letter WHERE group_name = CAST(:user_id AS text)")
_RUNNING = {
    "analyses": text(f"""
        WITH gone AS (DELETE FROM analyses WHERE id = ANY (CAST(:ids AS uuid[])) AND status = 'running' RETURNING *)
        {gather("gone")}"""),
    "spec_documents": text(f"""
        WITH gone AS (DELETE FROM spec_documents WHERE id = ANY (CAST(:ids AS uuid[])) AND status = 'running'
                      RETURNING *)
        {gather("gone")}"""),
    "spec_requests": text(f"""
        WITH gone AS (DELETE FROM spec_requests WHERE job_id = ANY (CAST(:ids AS uuid[])) RETURNING *)
        {gather("gone")}"""),
}
# The answer under a key names jobs that are where their owner is.
_NAMES = """
    (k.body->>'id' = ANY (CAST(:ids AS text[])) OR EXISTS (
        SELECT FROM jsonb_array_elements(k.body->'items') AS i WHERE i->'job'->>'id' = ANY (CAST(:ids AS text[]))))"""
_FORGET_STAYING = text(f"DELETE FROM idempotency_keys k WHERE k.user_id = :user_id AND {_NAMES}")
_END = (
    text("SELECT broker_delete(task) FROM unnest(CAST(:ids AS text[])) AS task"),
    text("DELETE FROM job_events WHERE job_id = ANY (CAST(:ids AS uuid[]))"),
    text(f"""
        DELETE FROM idempotency_keys k
         WHERE k.user_id IN (SELECT user_id FROM analysis_requests
                              WHERE job_id = ANY (CAST(:ids AS uuid[])) AND user_id <> :user_id)
           AND {_NAMES}"""),
    text("""
        DELETE FROM analysis_requests
         WHERE job_id = ANY (CAST(:ids AS uuid[])) AND user_id IS DISTINCT FROM :user_id"""),
)


class UnfinishedRow(NamedTuple):
    """An unfinished job that a user has asked for.

    delay_seconds: until it is ready, if delay_reason says that it waits for a time; has_left: the user no longer wants
    it; is_shared: somebody else does.
    """

    job_id: UUID
    queue: str
    unique_key: str | None
    step: int
    is_ready: bool
    is_leased: bool
    delay_reason: str | None
    delay_seconds: float | None
    is_cancelled: bool
    retry_count: int
    lost_count: int
    service: str
    commit_sha: str
    host: str
    owner: str
    name: str
    has_left: bool
    is_shared: bool


def unfinished(tx: Tx, user_id: UUID) -> list[UnfinishedRow]:
    """The unfinished jobs of a user, in the order in which they would run."""
    return tx.run(_UNFINISHED, user_id=user_id).values(UnfinishedRow)


def lock_unfinished(tx: Tx, user_id: UUID) -> list[UnfinishedRow]:
    """Like `unfinished`.  Locks: their messages, after the users row, which the caller has locked."""
    tx.write(_LOCK, user_id=user_id)
    return unfinished(tx, user_id)


def letters(tx: Tx, user_id: UUID) -> list[UUID]:
    """Unfinished jobs of the user whose message is a dead letter."""
    return list(tx.run(_LETTERS, user_id=user_id).scalars())


def codebases(tx: Tx, user_id: UUID) -> JsonRows:
    """Read the repositories that the user's rows name."""
    return select(tx, _CODEBASES, user_id=user_id)


def end(tx: Tx, user_id: UUID, jobs: Collection[UUID]) -> dict[str, JsonRows]:
    """Take unfinished jobs out of this cell: messages, records, timelines.  -> table -> rows.

    Others who had left a job lose their requests for it, and the keys under which they would be answered with it.
    """
    ids = [str(job_id) for job_id in jobs]
    if not ids:
        return {}
    taken = {table: select(tx, statement, ids=ids) for table, statement in _RUNNING.items()}
    for statement in _END:
        tx.write(statement, ids=ids, **({"user_id": user_id} if ":user_id" in statement.text else {}))
    return taken


def leave(
    tx: Tx, user_id: UUID, bills: Bills, *, going: Collection[UUID], staying: Collection[UUID], placed: Collection[int]
) -> dict[str, JsonRows]:
    """Delete a user with everything that is theirs alone.  -> table -> rows.

    bills: those that went ahead; going: unfinished jobs, whose messages move with the user; staying: unfinished ones
    that the user has left, so the keys that answer with them go; placed: requests that are in the target already.
    Accept records of other jobs lose their user, as after a deletion.  Raises: OvertakenError.
    """
    taken = {"audit_log": select(tx, _NOTES, user_id=user_id)}
    others = {"staying": [str(one) for one in staying], "placed": array(placed)}
    taken["analysis_requests"] = select(tx, _REQUESTS, user_id=user_id, **others)
    for statement in _LEAVE:
        given = {"going": [str(one) for one in going]} if ":going" in statement.text else {}
        tx.write(statement, user_id=user_id, **given)
    tx.write(_SUMS, user_id=user_id)
    tx.write(_DROP_LETTERS, user_id=user_id)
    if staying:
        tx.write(_FORGET_STAYING, user_id=user_id, ids=others["staying"])
    taken["usage_events"] = take_bills(tx, user_id, bills)
    return taken | {table: select(tx, statement, user_id=user_id) for table, statement in _TAKE.items()}


def specifications(tx: Tx, user_id: UUID) -> Mapping[str, list[str]]:
    """The user's requests for specifications and the documents.  -> table -> ids.

    Locks: those rows, with their keys.
    """
    return {
        "spec_requests": [str(one) for one in tx.run(_SPEC_REQUESTS, user_id=user_id).scalars()],
        "spec_documents": [str(one) for one in tx.run(_DOCUMENTS, user_id=user_id).scalars()],
    }
