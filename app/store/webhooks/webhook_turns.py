"""Turns of webhooks: at most one of each account is under way, in all processes together."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

#: A turn that seems to last longer began before the clock was set back, and is over.
LONGEST = "interval '15 minutes'"

# Two claims at once could each take a webhook of one account, since a row that is taken says nothing of the others.
_ONE_AT_A_TIME = text("SELECT pg_advisory_xact_lock(hashtext('fairlane webhook turns'), 0)")
# The account that was served longest ago is first, and of its webhooks the one that was.  turn_until is in the future
# while a turn is under way, and says afterwards when it ended.
_CLAIM = text(f"""
    WITH now AS MATERIALIZED (SELECT clock_timestamp() AS at),
    due AS MATERIALIZED (
        SELECT DISTINCT d.webhook_id FROM webhook_deliveries d
         WHERE d.due_at IS NOT NULL AND d.due_at <= (SELECT at FROM now)),
    first AS (
        SELECT DISTINCT ON (w.user_id) w.id,
               (SELECT max(o.turn_until) FROM webhooks o WHERE o.user_id = w.user_id
                   AND o.turn_until < (SELECT at FROM now) + {LONGEST}) AS served_at
          FROM due JOIN webhooks w ON w.id = due.webhook_id
         WHERE w.disabled_at IS NULL AND coalesce(w.paused_until <= (SELECT at FROM now), true)
         ORDER BY w.user_id, w.turn_until NULLS FIRST, w.id),
    next AS (
        SELECT id FROM first WHERE coalesce(served_at <= (SELECT at FROM now), true)
         ORDER BY served_at NULLS FIRST, id LIMIT :most)
    UPDATE webhooks SET turn_until = clock_timestamp() + make_interval(secs => :seconds)
     WHERE id IN (SELECT id FROM next) RETURNING id""")
_END = text("UPDATE webhooks SET turn_until = clock_timestamp() WHERE id = :id")


def claim(tx: Tx, most: int, *, seconds: float) -> list[UUID]:
    """Begin a turn of a webhook for each of at most that many accounts with something due.

    seconds: after that the turn counts as over, because its worker died.  Returns: the webhooks.
    Locks: the advisory lock of all claims, then the rows of these webhooks.
    """
    tx.write(_ONE_AT_A_TIME)
    return list(tx.run(_CLAIM, most=most, seconds=seconds).scalars())


def end(tx: Tx, webhook_id: UUID) -> None:
    """End a webhook's turn, so that its account may get another one."""
    tx.write(_END, id=webhook_id)
