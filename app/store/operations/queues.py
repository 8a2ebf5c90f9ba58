"""The queues as rows: how full they are, and whether they are paused."""

from __future__ import annotations

from typing import Any

from sqlalchemy import Row, RowMapping, text

from app.store.core.unit_of_work import Tx
from app.store.operations.dead_letters import UUID_PATTERN

# exact up to 10,000 each, estimates beyond that, cheap at any size
_FACTS = text("""
    SELECT f.queue, f.paused, f.ready, f.oldest_seconds, f.leased, f.delayed, f.snoozed, f.parked,
           coalesce(greatest(0, extract(epoch FROM clock_timestamp() - p.since)), 0) AS oldest_parked_seconds, f.dead,
           f.estimated || CASE WHEN p.complete THEN '{}' ELSE '{oldest_parked_seconds}'::text[] END AS estimated
      FROM broker_facts f JOIN broker_queue q ON q.name = f.queue
     CROSS JOIN LATERAL queue_parked_since(q.id, :most) p ORDER BY q.id""")
_AGES = ("oldest_seconds", "oldest_parked_seconds")
_PAUSE = text("SELECT broker_pause(:queue)")
_RESUME = text("SELECT broker_resume(:queue)")
_TOTALS = text("""
    SELECT (SELECT count(*) FROM execution_slots) AS slots,
           (SELECT coalesce(sum(snoozed), 0) FROM broker_facts) AS snoozed,
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


def states(tx: Tx, *, most: int = MOST_PARKED_USERS) -> list[dict[str, Any]]:
    """rows: queue, paused, ready, oldest_seconds, leased, delayed, snoozed (of the delayed), parked, dead, estimated.

    And oldest_parked_seconds: since when the oldest message is enqueued that is parked or snoozed; 0: none is.
    estimated: names of the numbers above 10,000, which are estimates; and oldest_parked_seconds if more than `most`
    users have such messages, because it is the oldest of that many users only.
    """
    rows = tx.run(_FACTS, most=most).mappings()
    return [{**row, **{age: round(float(row[age]), 1) for age in _AGES}} for row in rows]


def names(tx: Tx) -> list[str]:
    """Queues that exist."""
    return list(tx.run(_NAMES).scalars())


def pauses(tx: Tx) -> list[RowMapping]:
    """rows: queue, since, actor (None: not in the audit log), email (of the actor, if any), reason."""
    return list(tx.run(_PAUSES, uuid=UUID_PATTERN).mappings())


def totals(tx: Tx) -> Row[Any]:
    """row: slots, snoozed, reserved, dead (up to 100,000), for all queues and users together."""
    return tx.run(_TOTALS).one()


def set_paused(tx: Tx, queue: str, *, paused: bool) -> None:
    """Pause a queue from now on by the database's clock, or resume it and wake its workers.

    Locks: the queue's row, so that what the caller then writes to the audit log is in the order of the acts.
    """
    tx.write(_PAUSE if paused else _RESUME, queue=queue)
