"""Compare completed jobs with bills, for each user and period, day by day (docs/adr/0024, 0056)."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta

from app.services.operations.shown_rows import ShownRow
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations import reconciliations

#: Two billing periods and a little: nothing older is accepted into, and few older jobs still run.
LOOKS_BACK = timedelta(days=65)
DAY, HOUR = timedelta(days=1), timedelta(hours=1)
#: A day is not closed before this time has passed since its end: an accept of its last second may not be committed.
SETTLES = HOUR
#: One statement reads an hour up to a day, so that it reads about this many jobs, for which it needs a second.
MOST_JOBS = 20_000

_SIDES = ("jobs", "units", "events", "amount")


@dataclass(frozen=True, slots=True)
class Reconciled:
    """The comparison of completed jobs with bills.

    jobs: completed and billable; events: billed; differences: one row for each user and period where they differ.

    A difference has the numbers of the statements in which the two sides were not equal, not those of the whole period.
    """

    jobs: int
    events: int
    differences: list[ShownRow]


@dataclass(slots=True)
class _Count:
    """The sums that a run has found so far."""

    jobs: int = 0
    events: int = 0
    unfinished: int = 0
    differences: dict[tuple[str, str, str], Counter[str]] = field(default_factory=dict)

    def add(self, other: _Count) -> None:
        self.jobs += other.jobs
        self.events += other.events
        self.unfinished += other.unfinished
        for key, sides in other.differences.items():
            self.differences.setdefault(key, Counter()).update(sides)

    def rows(self) -> list[ShownRow]:
        """The differences that remain when the statements are added up, in the order of users and periods."""
        found: list[ShownRow] = [
            dict(zip(("user_id", "service", "period"), key, strict=True)) | {side: sides[side] for side in _SIDES}
            for key, sides in sorted(self.differences.items())
            if (sides["jobs"], sides["units"]) != (sides["events"], sides["amount"])
        ]
        return found[: reconciliations.MOST_DIFFERENCES]


def reconcile(
    uow: UnitOfWork, *, now: datetime, since: datetime | None = None, most_jobs: int = MOST_JOBS
) -> Reconciled:
    """Count both sides of the jobs accepted since the day of `since` (None: 65 days ago), and store the result.

    A day is closed when its jobs have ended and its two sides were equal; later runs only compare its bills.  Each
    statement is a transaction of its own, so a run that stops continues where it was.  most_jobs: of one statement.
    """
    first = (since or now - LOOKS_BACK).astimezone(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    reader, total = _Reader(uow, now, most_jobs), _Count()
    for number in range((now - first) // DAY + 1):
        total.add(reader.day(first + number * DAY))
    done = Reconciled(total.jobs, total.events, total.rows())
    with uow.begin() as tx:
        reconciliations.add(tx, since=first, jobs=done.jobs, events=done.events, differences=done.differences, now=now)
    return done


@dataclass(slots=True)
class _Reader:
    """Reads days, each in as few statements as its number of jobs allows.  hours: how many the next statement reads."""

    uow: UnitOfWork
    now: datetime
    most_jobs: int
    hours: int = 1

    def day(self, begin: datetime) -> _Count:
        """Count a day, unless it is closed; close it if it is over and nothing in it can change any more."""
        with self.uow.once() as tx:
            closed = reconciliations.closed_day(tx, begin)
        if closed:
            return _Count(closed.jobs, closed.events)
        total, end = self._read(begin, begin + DAY), begin + DAY
        if end + SETTLES <= self.now and not total.unfinished and not total.differences:
            with self.uow.begin() as tx:
                reconciliations.close_day(tx, begin, jobs=total.jobs, events=total.events, now=self.now)
        return total

    def _read(self, begin: datetime, end: datetime) -> _Count:
        total = _Count()
        while begin < end:
            until = min(end, begin + self.hours * HOUR)
            total.add(self._window(begin, None if until > self.now else until))
            begin = end if until > self.now else until  # the last one has read everything that is newer
        return total

    def _window(self, begin: datetime, end: datetime | None) -> _Count:
        with self.uow.once() as tx:
            found = reconciliations.count(tx, begin=begin, end=end)
        if found.read > self.most_jobs:
            self.hours = max(1, self.hours // 2)
        elif found.read < self.most_jobs / 4:
            self.hours = min(24, self.hours * 2)
        differences = {
            (row["user_id"], row["service"], row["period"]): Counter({side: int(row[side]) for side in _SIDES})
            for row in found.differences
        }
        return _Count(int(found.jobs), int(found.events), int(found.unfinished), differences)


@dataclass(frozen=True, slots=True)
class LastReconciled:
    """The result of the newest reconciliation.

    differences: number of users and periods whose bills differ from their completed jobs.
    """

    ran_at: datetime
    differences: int


def last_reconciled(uow: UnitOfWork) -> LastReconciled | None:
    """The result of the last run; None before the first."""
    with uow.begin() as tx:
        last = reconciliations.newest(tx)
    return LastReconciled(last.ran_at, last.differences) if last else None
