"""How often jobs were put back because as many jobs of their user ran as may."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# Only snoozes pay for the index that this reads, the newest first and no more than `most`.  The user is the one whose
# slots the job waited for: the one who carried it last, or the
# payer if it was never carried by another.
_FIND = text("""
    WITH newest AS MATERIALIZED (
        SELECT job_id, at, facts->>'tier' AS tier FROM job_events
         WHERE event = 'snoozed' AND at >= :since ORDER BY at DESC LIMIT :most),
    seen AS MATERIALIZED (
        SELECT n.job_id, n.at, n.tier, r.user_id
          FROM newest n LEFT JOIN LATERAL (
               SELECT o.user_id FROM analysis_requests o WHERE o.job_id = n.job_id
                ORDER BY o.carried_at DESC NULLS LAST, o.role <> 'payer' LIMIT 1) r ON true)
    SELECT tier, NULL AS user_id, NULL AS email, count(*) AS snoozes, count(*) FILTER (WHERE at >= :recent) AS recent,
           count(DISTINCT job_id) AS jobs, count(DISTINCT user_id) AS users, min(at) AS first_at
      FROM seen GROUP BY tier
     UNION ALL
   (SELECT max(s.tier), s.user_id, max(u.email), count(*), count(*) FILTER (WHERE s.at >= :recent),
           count(DISTINCT s.job_id), 1, min(s.at)
      FROM seen s JOIN users u ON u.id = s.user_id
     GROUP BY s.user_id ORDER BY count(*) DESC, s.user_id LIMIT :users)""")


class SnoozesRow(NamedTuple):
    """Snoozes of a tier, or of one of its users.  recent: those since a given time."""

    tier: str | None
    user_id: UUID | None
    email: str | None
    snoozes: int
    recent: int
    jobs: int
    users: int
    first_at: datetime


def find(tx: Tx, *, since: datetime, recent: datetime, most: int, users: int) -> Sequence[SnoozesRow]:
    """Snoozes since then by tier, and by user for the users with the most of them.  most: the newest are read.

    A row of a tier has no user.
    """
    return tx.run(_FIND, since=since, recent=recent, most=most, users=users).values(SnoozesRow)
