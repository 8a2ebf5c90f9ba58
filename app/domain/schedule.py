"""How often a repository is analysed again (docs/adr/0013)."""

from __future__ import annotations

from datetime import datetime, timedelta

#: (viewed within the last n whole days, interval)
_INTERVALS = (
    (7, timedelta(hours=6)),
    (14, timedelta(hours=12)),
    (30, timedelta(hours=24)),
    (60, timedelta(days=3)),
    (90, timedelta(days=7)),
)

#: How often an entry of beat may be sent at most.
SHORTEST = timedelta(minutes=1)
#: This many failed analyses in a row stop a repository's schedule.
MAX_FAILURES = 5


def interval_for(viewed_at: datetime, now: datetime) -> timedelta | None:
    """Time between analyses by whole days since the last view; None = never."""
    days = (now - viewed_at).days
    if days < 0:
        return None
    return next((interval for limit, interval in _INTERVALS if days <= limit), None)


def is_due(viewed_at: datetime, last_finished_at: datetime | None, now: datetime) -> bool:
    """Whether a repository's next scheduled analysis is due."""
    interval = interval_for(viewed_at, now)
    if interval is None:
        return False
    return last_finished_at is None or last_finished_at + interval <= now


def slot_start(now: datetime, every: timedelta, offset: timedelta = timedelta(0)) -> datetime:
    """The newest slot of a schedule that began at or before `now`.  Slots are counted from the epoch."""
    epoch = datetime.fromtimestamp(0, tz=now.tzinfo) + offset
    return epoch + every * ((now - epoch) // every)


def may_replace(every: timedelta, own: timedelta) -> bool:
    """Whether an operator may send an entry at this interval: each slot of `own` must stay a slot, so it divides it."""
    return SHORTEST <= every <= own and own % every == timedelta(0)
