"""Count how often jobs were put back because as many jobs of their user ran as may, by tier and by user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from app.domain.plans import Tier
from app.store.core.reading import read_current
from app.store.core.unit_of_work import UnitOfWork
from app.store.fairness import snoozes
from app.store.fairness.snoozes import SnoozesRow

DAY, HOUR = timedelta(days=1), timedelta(hours=1)
#: How many snoozes are read, the newest first, which takes up to 90 ms; and how many users are named.
MOST_SNOOZES = 10_000
MOST_USERS = 10


@dataclass(frozen=True, slots=True)
class Snoozes:
    """How often jobs of a tier or of one user were snoozed.

    last_hour: among those of the window; jobs, users: how many were concerned.

    user_id, email: None for a tier.  The tier is that of the moment of the snooze, for a user the highest of them.
    """

    tier: str
    user_id: UUID | None
    email: str | None
    snoozes: int
    last_hour: int
    jobs: int
    users: int


@dataclass(frozen=True, slots=True)
class Snoozed:
    """The window that was read.  is_cut: older snoozes of the last 24 hours were not read, and `since` is later.

    tiers: each of them, the smallest first; users: those with the most snoozes.
    """

    since: datetime
    is_cut: bool
    tiers: Sequence[Snoozes]
    users: Sequence[Snoozes]


def count(uow: UnitOfWork, *, now: datetime, most: int = MOST_SNOOZES) -> Snoozed:
    """Count the snoozes of the last 24 hours."""
    rows = read_current(
        uow,
        lambda tx: snoozes.find(tx, since=now - DAY, recent=now - HOUR, most=most, users=MOST_USERS),
        once=True,
    )
    by_tier = {row.tier: _snoozes(row) for row in rows if row.user_id is None}
    is_cut = sum(one.snoozes for one in by_tier.values()) >= most
    since = min((row.first_at for row in rows), default=now - DAY) if is_cut else now - DAY
    tiers = [by_tier.get(tier.value, Snoozes(tier.value, None, None, 0, 0, 0, 0)) for tier in Tier]
    return Snoozed(since, is_cut, tiers, [_snoozes(row) for row in rows if row.user_id])


def _snoozes(row: SnoozesRow) -> Snoozes:
    return Snoozes(row.tier or "none", row.user_id, row.email, row.snoozes, row.recent, row.jobs, row.users)
