"""Deliveries to webhooks: made by a trigger when a job ends (sql/webhooks.sql), sent by workers."""

from __future__ import annotations

from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.batch import Batch
from app.store.core.unit_of_work import Tx
from app.store.webhooks.webhook_turns import LONGEST

_LOG = """d.id, d.webhook_id, d.message_id, d.job_id, d.type, d.happened_at, d.body, d.status, d.attempts, d.due_at,
       d.attempted_at, d.status_code, d.latency_ms, d.answer, d.fault"""
#: Ended tests of a webhook that its log keeps.
TESTS_KEPT = 20
#: The database's clock.  A subquery reads it once per statement, so that an index finds what is due.
_NOW = "(SELECT clock_timestamp())"
# From the deliveries to their webhooks: few are due, and to ask 5,000 webhooks that are not would cost 9 ms.
# IS NOT NULL tells the planner how few; a comparison with an unknown time counts as a third of the table.
# A webhook whose turn waits for a worker gets no second one, nor does an account of which one is under way.
_DUE = text(f"""
    WITH due AS MATERIALIZED (
        SELECT DISTINCT d.webhook_id FROM webhook_deliveries d WHERE d.due_at IS NOT NULL AND d.due_at <= {_NOW})
    SELECT w.id FROM due JOIN webhooks w ON w.id = due.webhook_id
     WHERE w.disabled_at IS NULL AND coalesce(w.paused_until <= {_NOW}, true)
       AND NOT EXISTS (SELECT FROM broker_message m WHERE m.unique_key = 'webhook ' || w.id)
       AND NOT EXISTS (SELECT FROM webhooks o WHERE o.user_id = w.user_id
                          AND o.turn_until > {_NOW} AND o.turn_until < {_NOW} + {LONGEST})
     ORDER BY w.paused_until NULLS FIRST LIMIT :most""")
_NEXT = text(f"""
    SELECT {_LOG}, w.url, w.failures, w.secret,
           CASE WHEN w.old_secret_until > {_NOW} THEN w.old_secret END AS old_secret,
           w.user_id, a.facts->>'request_id' AS request_id, a.facts->>'traceparent' AS traceparent,
           EXISTS (SELECT FROM analysis_requests r
                    WHERE r.job_id = d.job_id AND r.user_id = w.user_id AND r.role = 'payer') AS is_payers
      FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
      LEFT JOIN LATERAL (SELECT e.facts FROM job_events e
                          WHERE e.job_id = d.job_id AND e.event = 'accepted' ORDER BY e.id LIMIT 1) AS a ON true
     WHERE d.webhook_id = :webhook_id AND d.due_at <= {_NOW} AND w.disabled_at IS NULL
       AND coalesce(w.paused_until <= {_NOW}, true)
     ORDER BY d.due_at, d.id LIMIT 1""")
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
# Since when: the turn of any webhook of the account counts, and a webhook that rests waits for nobody.
_WAITING = text(f"""
    WITH waiting AS MATERIALIZED (
        SELECT webhook_id, due_at FROM webhook_deliveries WHERE due_at IS NOT NULL LIMIT :most),
    due AS (SELECT webhook_id, min(due_at) AS at FROM waiting GROUP BY webhook_id),
    since AS (
        SELECT greatest(due.at, w.paused_until,
                        (SELECT max(o.turn_until) FROM webhooks o
                          WHERE o.user_id = w.user_id AND o.turn_until < {_NOW} + {LONGEST})) AS at
          FROM due JOIN webhooks w ON w.id = due.webhook_id WHERE w.disabled_at IS NULL)
    SELECT (SELECT count(*) FROM waiting) AS deliveries,
           coalesce(greatest(0, extract(epoch FROM {_NOW} - min(at)))::float8, 0) AS seconds
      FROM since""")
_LIST = text(f"""
    SELECT {_LOG} FROM webhook_deliveries d
     WHERE d.webhook_id = :webhook_id AND d.happened_at >= :since
       AND (CAST(:before AS bigint) IS NULL OR d.id < :before)
     ORDER BY d.id DESC LIMIT :most""")
_FIND = text(f"""
    SELECT {_LOG} FROM webhook_deliveries d
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
    status: str
    attempts: int
    due_at: datetime
    attempted_at: datetime | None
    status_code: int | None
    latency_ms: int | None
    answer: str | None
    fault: str | None
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
