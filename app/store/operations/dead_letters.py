"""The messages that the broker gave up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, NamedTuple, TypedDict, Unpack
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

UUID_PATTERN = "^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$"
# A task id is a uuid only if the message was ours, because anything can be inserted into the queue.  The statement
# casts this id and not the ids of all jobs, because no index could serve that.
_JOB = "CASE WHEN d.task_id ~ :uuid THEN CAST(d.task_id AS uuid) END"
# If its payer left, a job continues for those who joined it; without a record it ends when no asker is left.
_WANTED = """EXISTS (SELECT FROM analysis_requests o
                     WHERE o.job_id = r.job_id AND o.cancelled_at IS NULL AND o.role <> 'left')"""
# Letters that an operator is redriving are locked, and skipped.
_UNFINISHED = text(f"""
    SELECT r.job_id, r.service, {_WANTED} AS wanted FROM broker_dead_letter d
      JOIN analysis_requests r ON r.job_id = {_JOB} AND r.role = 'payer'
      LEFT JOIN job_records a ON a.id = r.job_id
     WHERE NOT EXISTS (SELECT FROM broker_message m WHERE m.task_id = d.task_id)
       AND coalesce(a.status = 'running', {_WANTED})
     ORDER BY r.job_id LIMIT 1000 FOR UPDATE OF d SKIP LOCKED""")
_CHOSEN = """(CAST(:ids AS bigint[]) IS NULL OR d.id = ANY (CAST(:ids AS bigint[])))
       AND (CAST(:queue AS text) IS NULL OR d.queue = :queue)
       AND (CAST(:reason AS text) IS NULL OR d.reason = :reason)
       AND d.id > :after AND (CAST(:last AS bigint) IS NULL OR d.id <= CAST(:last AS bigint))"""
_LIST = text(f"""
    SELECT d.id, d.queue, d.task_id, d.group_name AS user_id, d.reason, d.delivery_count, d.lost_count, d.enqueued_at,
           d.died_at, octet_length(d.payload) AS payload_size,
           CASE WHEN :whole THEN d.payload ELSE left(d.payload, 200) END AS payload
      FROM broker_dead_letter d WHERE {_CHOSEN} AND (CAST(:before AS bigint) IS NULL OR d.id < :before)
     ORDER BY d.id DESC LIMIT :most""")
_COUNT = text(f"SELECT count(*) FROM broker_dead_letter d WHERE {_CHOSEN}")
_SPAN = text(f"""
    SELECT count(*) AS letters, max(id) AS last, (SELECT count(*) FROM broker_dead_letter d WHERE {_CHOSEN}) AS total
      FROM (SELECT d.id FROM broker_dead_letter d WHERE {_CHOSEN} ORDER BY d.id LIMIT :most) AS oldest""")
_LOCK = text(f"""
    SELECT d.id, {_JOB} AS job_id FROM broker_dead_letter d WHERE {_CHOSEN}
     ORDER BY d.id LIMIT :most FOR UPDATE SKIP LOCKED""")
_HAVE_ENDED = text(f"""
    SELECT r.job_id, coalesce(a.status <> 'running', NOT {_WANTED}) AS ended
      FROM analysis_requests r LEFT JOIN job_records a ON a.id = r.job_id
     WHERE r.job_id = ANY (:job_ids) AND r.role = 'payer'""")
_REDRIVE = text("SELECT letter, outcome FROM broker_redrive(:ids)")
_DROP = text("DELETE FROM broker_dead_letter WHERE id = ANY (:ids)")


class Filters(TypedDict, total=False):
    """The letters that a statement applies to; what is missing or None excludes none.

    after, last: their ids are larger than the first, and up to the second.
    """

    ids: Sequence[int] | None
    queue: str | None
    reason: str | None
    after: int
    last: int | None


class DeadJobRow(NamedTuple):
    """A job whose message is a dead letter.  wanted: whether it has an asker left."""

    job_id: UUID
    service: str
    wanted: bool


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A message that the broker gave up.  user_id: whose line it was in; payload_size: bytes of the payload.

    None: the broker did not know, as of a message that a stock producer sent.
    """

    id: int
    queue: str | None
    task_id: str | None
    user_id: str | None
    reason: str
    delivery_count: int | None
    lost_count: int | None
    enqueued_at: datetime | None
    died_at: datetime
    payload_size: int | None
    payload: str | None


class LettersRow(NamedTuple):
    """Numbers of the dead letters that a choice matches.

    letters: how many the oldest are; last: the last id of them, None for none; total: of all.
    """

    letters: int
    last: int | None
    total: int


class LockedLetterRow(NamedTuple):
    """A dead letter that this transaction has locked.  job_id: None if the task id is not the id of a job."""

    id: int
    job_id: UUID | None


def unfinished_jobs(tx: Tx) -> list[DeadJobRow]:
    """Jobs whose message is a dead letter but whose end is not written yet.

    Locks: their letters, skipping locked ones.
    """
    return tx.run(_UNFINISHED, uuid=UUID_PATTERN).values(DeadJobRow)


def find(
    tx: Tx, *, before: int | None = None, most: int = 100, whole: bool = False, **chosen: Unpack[Filters]
) -> list[DeadLetter]:
    """Letters, newest first.  before: the last id of the previous page; whole: payloads in full."""
    return tx.run(_LIST, **_values(chosen), before=before, most=most, whole=whole).values(DeadLetter)


def count(tx: Tx, **chosen: Unpack[Filters]) -> int:
    """How many letters there are."""
    return int(tx.run(_COUNT, **_values(chosen)).scalar_one())


def oldest(tx: Tx, *, most: int, **chosen: Unpack[Filters]) -> LettersRow:
    """How many letters are to be handled, up to `most`, and how many there are."""
    return tx.run(_SPAN, **_values(chosen), most=most).value(LettersRow)


def lock(tx: Tx, *, most: int, **chosen: Unpack[Filters]) -> list[LockedLetterRow]:
    """Lock letters, oldest first, skipping locked ones."""
    return tx.run(_LOCK, **_values(chosen), uuid=UUID_PATTERN, most=most).values(LockedLetterRow)


def have_ended(tx: Tx, job_ids: Sequence[UUID]) -> dict[UUID, bool]:
    """Whether each of those that are jobs has ended."""
    return {row.job_id: bool(row.ended) for row in tx.run(_HAVE_ENDED, job_ids=list(job_ids))}


def redrive(tx: Tx, ids: Sequence[int]) -> dict[int, str]:
    """Put letters back on their queues.  Returns for each: redriven, in the way, no queue.  The caller locked them."""
    return {row.letter: row.outcome for row in tx.run(_REDRIVE, ids=list(ids))}


def drop(tx: Tx, ids: Sequence[int]) -> None:
    """Delete letters.  The caller has locked them."""
    tx.run(_DROP, ids=list(ids))


def _values(chosen: Filters) -> dict[str, Any]:
    ids = chosen.get("ids")
    values: dict[str, Any] = {"queue": None, "reason": None, "after": 0, "last": None}
    return values | chosen | {"ids": None if ids is None else list(ids)}
