"""The queues as rows: how full they are, and whether they are paused."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from sqlalchemy import Row, text

from app.store.messages import CHANNEL
from app.store.unit_of_work import Tx

_FACTS = text("""
    SELECT q.name AS queue, q.paused_at IS NOT NULL AS paused,
           count(m.id) FILTER (WHERE m.visible) AS ready,
           coalesce(extract(epoch FROM :now - min(coalesce(m.visible_at, m.enqueued_at)) FILTER (WHERE m.visible)), 0)
               AS oldest_seconds,
           count(m.id) FILTER (WHERE m.lease_token IS NOT NULL) AS leased,
           count(m.id) FILTER (WHERE NOT m.visible AND m.lease_token IS NULL) AS delayed
      FROM kombu_queue q LEFT JOIN kombu_message m ON m.queue_id = q.id
     GROUP BY q.id ORDER BY q.id""")
# Waking the queue's nodes: they sleep until somebody tells them that there is something to claim.
_SET_PAUSED = text("""
    UPDATE kombu_queue SET paused_at = CASE WHEN :paused_at IS NULL THEN NULL ELSE coalesce(paused_at, :paused_at) END
     WHERE name = :queue""")
_TOTALS = text("""
    SELECT (SELECT count(*) FROM execution_slots) AS slots,
           (SELECT count(*) FROM kombu_message WHERE delay_reason = 'snooze' AND lease_token IS NULL) AS snoozed,
           (SELECT coalesce(sum(reserved_amount), 0) FROM quota_reservations) AS reserved,
           (SELECT count(*) FROM kombu_dead_letter) AS dead""")
_NAMES = text("SELECT name FROM kombu_queue")
_NOTIFY = text("SELECT pg_notify(:channel, :queue)")


def facts(tx: Tx, *, now: datetime) -> list[dict[str, Any]]:
    """rows: queue, paused, ready, oldest_seconds, leased, delayed."""
    rows = tx.run(_FACTS, now=now).mappings()
    return [{**row, "oldest_seconds": round(float(row["oldest_seconds"]), 1)} for row in rows]


def names(tx: Tx) -> list[str]:
    """Queues that exist."""
    return list(tx.run(_NAMES).scalars())


def totals(tx: Tx) -> Row[Any]:
    """row: slots, snoozed, reserved, dead: what is held now, over all queues and users."""
    return tx.run(_TOTALS).one()


def set_paused(tx: Tx, queue: str, paused_at: datetime | None) -> None:
    """Pause a queue since then, or open it (None) and wake its workers."""
    tx.run(_SET_PAUSED, queue=queue, paused_at=paused_at)
    if paused_at is None:
        tx.run(_NOTIFY, channel=CHANNEL, queue=queue)
