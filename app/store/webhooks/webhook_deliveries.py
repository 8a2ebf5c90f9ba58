"""Deliveries to webhooks: made by a trigger when a job ends (sql/webhooks.sql), sent by workers."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx

#: Ended tests of a webhook that its log keeps.
TESTS_KEPT = 20
# Functions of sql/webhooks.sql keep their plans: to plan for all parts of the table costs more than to read them.
_DUE = text("SELECT webhooks_due(:most)")
_NEXT = text("SELECT * FROM webhook_next(:webhook_id)")
_WAITING = text("SELECT deliveries, seconds FROM webhooks_waiting(:most)")
_LIST = text("SELECT * FROM webhook_log(:webhook_id, :since, :before, :most)")
# One delivery is found with its time, which says in which month's part of the table it is.
_KEEP_BODY = text("UPDATE webhook_deliveries SET body = :body WHERE id = :id AND happened_at = :happened_at")
# As the attempt found it: a late worker, or one that was overtaken by a replay, records nothing.
_RECORD = text("""
    UPDATE webhook_deliveries SET status = :status, due_at = :due_at, attempts = attempts + 1, attempted_at = :now,
           status_code = :status_code, latency_ms = :latency_ms, answer = :answer, fault = :fault
     WHERE id = :id AND happened_at = :happened_at AND attempts = :attempts AND due_at = :was_due_at""")
_GIVE_UP = text("""
    UPDATE webhook_deliveries SET status = 'failed', due_at = NULL, fault = :fault
     WHERE id = :id AND happened_at = :happened_at""")
# What its owner sends does not end a rest that failures earned.
_SOON = "(SELECT greatest(clock_timestamp(), w.paused_until) FROM webhooks w WHERE w.id = :webhook_id)"
_ADD_TEST = text(f"""
    INSERT INTO webhook_deliveries (webhook_id, type, happened_at, due_at)
    VALUES (:webhook_id, :type, clock_timestamp(), {_SOON}) RETURNING id""")
# The index on the log of a webhook finds them; a test is a user's own act, so few are enough to look at.
_DROP_TESTS = text("""
    DELETE FROM webhook_deliveries WHERE id IN (
        SELECT id FROM webhook_deliveries WHERE webhook_id = :webhook_id AND type = :type AND due_at IS NULL
         ORDER BY id DESC OFFSET :kept)""")
_PENDING = text("""
    SELECT count(*) AS deliveries, count(*) FILTER (WHERE type = :type) AS tests
      FROM webhook_deliveries WHERE webhook_id = :webhook_id AND due_at IS NOT NULL""")
_FIND = text("""
    SELECT d.id, d.webhook_id, d.message_id, d.job_id, d.type, d.happened_at, d.body, d.status, d.attempts, d.due_at,
           d.attempted_at, d.status_code, d.latency_ms, d.answer, d.fault
      FROM webhook_deliveries d
     WHERE d.webhook_id = :webhook_id AND d.id = :id AND d.happened_at >= :since""")
_REPLAY = text(f"""
    UPDATE webhook_deliveries SET status = 'pending', due_at = {_SOON}, attempts = 0
     WHERE webhook_id = :webhook_id AND id = :id AND happened_at >= :since""")
_MONTHS = text("""
    SELECT made, dropped, rows FROM webhook_deliveries_months('webhook_deliveries', :now, :before)""")
# What was there before the table had parts, and what came when its month had none.
_BY_ROW = text("""
    SELECT CAST(part AS text) FROM partition_bounds('webhook_deliveries')
     WHERE begins IS NULL OR begins = '-infinity'""")
_EXPIRE = """
    WITH next AS MATERIALIZED (
        SELECT id, happened_at FROM {part} WHERE id > :after ORDER BY id LIMIT :most),
    gone AS (
        DELETE FROM {part} d USING next n
         WHERE d.id = n.id AND d.happened_at = n.happened_at AND n.happened_at < :before RETURNING 1)
    SELECT max(id) AS last, count(*) AS seen, (SELECT count(*) FROM gone) AS rows FROM next"""


class DueRow(NamedTuple):
    """A delivery that is due, with its webhook.

    secret, old_secret: encrypted; None once it has ended; user_id: the owner; request_id, traceparent: of the request
    with which the job was accepted; is_payers: whether that was the owner's.
    """

    id: int
    webhook_id: UUID
    message_id: UUID
    job_id: UUID | None
    type: str
    happened_at: datetime
    body: str | None
    attempts: int
    due_at: datetime
    url: str
    failures: int
    secret: bytes
    old_secret: bytes | None
    user_id: UUID
    request_id: str | None
    traceparent: str | None
    is_payers: bool


class LoggedRow(NamedTuple):
    """A delivery."""

    id: int
    webhook_id: UUID
    message_id: UUID
    job_id: UUID | None
    type: str
    happened_at: datetime
    body: str | None
    status: str
    attempts: int
    due_at: datetime | None
    attempted_at: datetime | None
    status_code: int | None
    latency_ms: int | None
    answer: str | None
    fault: str | None


class WaitingRow(NamedTuple):
    """Deliveries that are to be sent.  seconds: for how long an account has waited for a turn, at most.

    That tells senders that are behind from a receiver that fails, which waits longer after each attempt.
    """

    deliveries: int
    seconds: float


class MonthsRow(NamedTuple):
    """Parts that were made and dropped, by name.  rows: about how many those had that were dropped."""

    made: list[str]
    dropped: list[str]
    rows: int


def waiting(tx: Tx, *, most: int) -> WaitingRow:
    """The deliveries of all webhooks that are to be sent, now or later.  most: how many are looked at."""
    return tx.run(_WAITING, most=most).value(WaitingRow)


def due(tx: Tx, most: int) -> list[UUID]:
    """Select webhooks with a due delivery and without a turn under way."""
    return list(tx.run(_DUE, most=most).scalars())


def next_of(tx: Tx, webhook_id: UUID) -> DueRow | None:
    """The oldest delivery that is due, with its webhook; None if there is none, or the webhook rests."""
    return tx.run(_NEXT, webhook_id=webhook_id).value_or_none(DueRow)


def keep_body(tx: Tx, delivery: DueRow, body: str) -> None:
    """Store what all attempts send."""
    tx.write(_KEEP_BODY, id=delivery.id, happened_at=delivery.happened_at, body=body)


def record(
    tx: Tx, delivery: DueRow, *, due_at: datetime | None, status: str, status_code: int | None, latency_ms: int,
    answer: str | None, fault: str | None, now: datetime,
) -> bool:  # fmt: skip
    """How an attempt ended.  due_at: of the next one.  Returns: False if another worker or a replay was faster."""
    ended = {"status": status, "due_at": due_at, "status_code": status_code, "latency_ms": latency_ms, "now": now}
    was = {"id": delivery.id, "happened_at": delivery.happened_at, "attempts": delivery.attempts}
    return tx.run(_RECORD, answer=answer, fault=fault, was_due_at=delivery.due_at, **ended, **was).rowcount == 1


def give_up(tx: Tx, delivery: DueRow, fault: str) -> None:
    """End a delivery of which nothing can be sent."""
    tx.write(_GIVE_UP, id=delivery.id, happened_at=delivery.happened_at, fault=fault)


def pending(tx: Tx, webhook_id: UUID, kind: str) -> tuple[int, int]:
    """How many deliveries are to be sent, and how many of them are of this type."""
    row = tx.run(_PENDING, webhook_id=webhook_id, type=kind).one()
    return row.deliveries, row.tests


def add_test(tx: Tx, webhook_id: UUID, kind: str) -> int:
    """Add a delivery that no job caused; of those that ended the newest are kept.  Returns: its id.

    Locks: rows of ended tests.  The caller has locked the webhook.
    """
    tx.write(_DROP_TESTS, webhook_id=webhook_id, type=kind, kept=TESTS_KEPT)
    return int(tx.run(_ADD_TEST, webhook_id=webhook_id, type=kind).scalar_one())


def log(tx: Tx, webhook_id: UUID, *, since: datetime, before: int | None, most: int) -> list[LoggedRow]:
    """Deliveries of events since then, newest first.  before: the last id of the previous page."""
    return tx.run(_LIST, webhook_id=webhook_id, since=since, before=before, most=most).values(LoggedRow)


def find(tx: Tx, webhook_id: UUID, delivery_id: int, *, since: datetime) -> LoggedRow | None:
    """Find one delivery of the webhook, if its event happened since then."""
    return tx.run(_FIND, webhook_id=webhook_id, id=delivery_id, since=since).value_or_none(LoggedRow)


def replay(tx: Tx, webhook_id: UUID, delivery_id: int, *, since: datetime) -> bool:
    """Send a delivery again, with the same id and all attempts.  Returns: False if there is none since then."""
    return tx.run(_REPLAY, webhook_id=webhook_id, id=delivery_id, since=since).rowcount == 1


def keep_months(tx: Tx, *, now: datetime, before: datetime) -> MonthsRow:
    """Make the parts of the table for the months to come, and drop those of which every event was before then.

    Locks: as the function says (sql/webhooks.sql).  Raises: DBAPIError with SQLSTATE 55P03 if it had to wait.
    """
    return tx.run(_MONTHS, now=now, before=before).value(MonthsRow)


def parts_by_row(tx: Tx) -> list[str]:
    """The parts that are no month's, whose rows `expire` deletes one by one."""
    return list(tx.run(_BY_ROW).scalars())


def expire(tx: Tx, after: int | None, most: int, *, part: str, before: datetime) -> Batch:
    """Delete deliveries of events before then.  part: of `parts_by_row`."""
    row = tx.run(text(_EXPIRE.format(part=part)), after=after or 0, most=most, before=before).one()
    return Batch(row.last if row.seen == most else None, row.rows)
