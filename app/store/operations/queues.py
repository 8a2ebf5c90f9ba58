"""The queues as rows: how full they are, and whether they are paused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple

from sqlalchemy import text

from app.store.core.unit_of_work import Tx
from app.store.operations.dead_letters import UUID_PATTERN

# exact up to 10,000 each, estimates beyond that, cheap at any size
_FACTS = text("""
    SELECT f.queue, f.paused, f.ready, CAST(round(CAST(f.oldest_seconds AS numeric), 1) AS float) AS oldest_seconds,
           f.leased, f.delayed, f.snoozed, f.parked,
           CAST(round(coalesce(greatest(0, extract(epoch FROM clock_timestamp() - p.since)), 0), 1) AS float)
               AS oldest_parked_seconds, f.dead,
           f.estimated || CASE WHEN p.complete THEN '{}' ELSE '{oldest_parked_seconds}'::text[] END AS estimated
      FROM broker_facts f JOIN broker_queue q ON q.name = f.queue
     CROSS JOIN LATERAL queue_parked_since(q.id, :most) p ORDER BY q.id""")
_PAUSE = text("SELECT broker_pause(:queue)")
_RESUME = text("SELECT broker_resume(:queue)")
_TOTALS = text("""
    SELECT (SELECT count(*) FROM execution_slots) AS slots,
           (SELECT CAST(coalesce(sum(snoozed), 0) AS bigint) FROM broker_facts) AS snoozed,
           (SELECT coalesce(sum(reserved_amount), 0) FROM quota_reservations) AS reserved,
           (SELECT count(*) FROM (SELECT FROM broker_dead_letter LIMIT 100000) AS dead) AS dead""")
#: Of how many users of a queue the oldest parked message is looked up; each of them costs 10 µs.
MOST_PARKED_USERS = 2_000
_NAMES = text("SELECT name FROM broker_queue")
# A second pause of a paused queue changes nothing, so the first one after the last resume is the one that counts.  The
# order is that of the log, because both acts write to it while they hold the queue's row; no instants are compared.
_PAUSES = text("""
    SELECT q.name AS queue, q.paused_at AS since, l.actor, u.email, l.facts ->> 'reason' AS reason
      FROM broker_queue q
      LEFT JOIN LATERAL (SELECT actor, facts FROM audit_log
                          WHERE action = 'queue.pause' AND subject = q.name
                            AND id > coalesce((SELECT max(id) FROM audit_log
                                                WHERE action = 'queue.resume' AND subject = q.name), 0)
                          ORDER BY id LIMIT 1) l ON true
      LEFT JOIN users u ON u.id = CASE WHEN l.actor ~ :uuid THEN CAST(l.actor AS uuid) END
     WHERE q.paused_at IS NOT NULL ORDER BY q.id""")


@dataclass(frozen=True, slots=True)
class QueueState:
    """Messages of a queue by state.  snoozed: among the delayed; estimated: names of the numbers that are estimates.

    oldest_seconds: of the ready, since they became ready; oldest_parked_seconds: of the parked and snoozed, since they
    were enqueued.
    """

    queue: str
    paused: bool
    ready: int
    oldest_seconds: float
    leased: int
    delayed: int
    snoozed: int
    parked: int
    oldest_parked_seconds: float
    dead: int
    estimated: Sequence[str]


class PauseRow(NamedTuple):
    """A paused queue.  actor: None if the audit log does not know; email: of the actor, if it is a user."""

    queue: str
    since: datetime
    actor: str | None
    email: str | None
    reason: str | None


class TotalsRow(NamedTuple):
    """Numbers of all queues and users together.  dead: up to 100,000."""

    slots: int
    snoozed: int
    reserved: int
    dead: int


def states(tx: Tx, *, most: int = MOST_PARKED_USERS) -> list[QueueState]:
    """All queues.  most: of how many users the oldest parked message is looked up."""
    return tx.run(_FACTS, most=most).values(QueueState)


def names(tx: Tx) -> list[str]:
    """Queues that exist."""
    return list(tx.run(_NAMES).scalars())


def pauses(tx: Tx) -> list[PauseRow]:
    """The queues that are paused, and who paused them."""
    return tx.run(_PAUSES, uuid=UUID_PATTERN).values(PauseRow)


def totals(tx: Tx) -> TotalsRow:
    """Slots, snoozed messages, reserved units and dead letters."""
    return tx.run(_TOTALS).value(TotalsRow)


def set_paused(tx: Tx, queue: str, *, paused: bool) -> None:
    """Pause a queue from now on by the database's clock, or resume it and wake its workers.

    Locks: the queue's row, so that what the caller then writes to the audit log is in the order of the acts.
    """
    tx.write(_PAUSE if paused else _RESUME, queue=queue)
