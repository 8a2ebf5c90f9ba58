"""Report to an operator who waited how long and why, and what another tier would have changed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Literal

from app.domain import simulation
from app.domain.attribution import AttributedWait, Cause, Course, attribute
from app.domain.fairness import FairnessMode
from app.domain.plans import Tier
from app.domain.queues import Service, select_queue
from app.domain.simulation import Run
from app.domain.summaries import sharing, summarise
from app.services.policy import Policy
from app.store.accounts import plans, users
from app.store.core.reading import read_current
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.fairness import waits

By = Literal["user", "tier"]

#: How many users a report lists, those with the longest total wait.
MOST_USERS = 100
#: For how many free-tier users the other tier is simulated, and how many jobs each simulation may have.
MOST_UPGRADES, MOST_SIMULATED = 10, 20_000
#: More slots than any user has, for when limits are not enforced.
_NO_LIMIT = 1_000_000


@dataclass(frozen=True, slots=True)
class Waits:
    """Waits of a user or tier in seconds; wait_mean is the sum of the four causes after it.

    tier: for a user, that of the newest job; user_id, email, earlier_on_pro_minutes: for a user only;
    waiting: jobs that have not started yet.
    """

    tier: str
    user_id: str | None
    email: str | None
    jobs: int
    waiting: int
    wait_p50: float
    wait_p95: float
    wait_mean: float
    own_limit: float
    paused: float
    others: float
    no_worker: float
    earlier_on_pro_minutes: float | None


@dataclass(frozen=True, slots=True)
class SharedHour:
    """How evenly the users with waiting jobs shared a queue in one hour; index: Jain's."""

    queue: str
    hour: datetime
    users: int
    index: float


@dataclass(frozen=True, slots=True)
class Report:
    """Waits of a period, grouped, with the hours in which users shared queues.

    since: the beginning of the period that was read; more: the number of users that are not listed.
    """

    since: datetime
    until: datetime
    by: By
    items: list[Waits]
    more: int
    sharing: list[SharedHour]


def report(
    uow: UnitOfWork,
    policy: Policy,
    *,
    by: By,
    since: datetime,
    until: datetime,
    workers: Mapping[str, int],
    most: int = waits.MOST_EVENTS,
) -> Report:
    """Waits of the jobs that were accepted and started in [since, until), by user or tier, in seconds.

    Causes are judged by the current limits.  workers: processes by queue, for the simulation; most: how many of the
    newest events to read; `since` of the answer is where they begin.  Of very many users, those with the longest total
    wait are listed.
    """
    events = read_current(uow, lambda tx: waits.events(tx, since=since, until=until, most=most), once=True)
    with uow.begin() as tx:
        pauses = waits.pauses(tx, until=until)
        slots, own = _limits(tx, policy), _own_limits(tx, policy)
    # reading and counting many jobs must not keep a transaction open: the server ends one that is idle for seconds
    seen = waits.seen(events, since=since, until=until, most=most)
    found = attribute(seen.courses, pauses, slots, own)
    groups = _grouped(found, seen.courses, by)
    listed = sorted(groups, key=lambda name: -sum(wait.total for wait in groups[name][0]))[:MOST_USERS]
    with uow.begin() as tx:
        emails = waits.emails(tx, listed) if by == "user" else {}
    earlier = _earlier_on_pro(seen.courses, found, listed, slots, workers) if by == "user" else {}
    items = [
        _waits(*groups[name], user=name if by == "user" else None, email=emails.get(name), earlier=earlier.get(name))
        for name in listed
    ]
    return Report(seen.since, until, by, items, len(groups) - len(listed), _sharing(seen.courses, until))


def slots_by_tier(uow: UnitOfWork, policy: Policy) -> dict[Tier, int]:
    """Current slot limits by tier; unreachably high if limits are not enforced."""
    with uow.begin() as tx:
        return _limits(tx, policy)


def _limits(tx: Tx, policy: Policy) -> dict[Tier, int]:
    held = policy.fairness.mode is FairnessMode.ENFORCE
    return {plan.tier: policy.fairness.slot_limit(plan) if held else _NO_LIMIT for plan in plans.every(tx)}


def _own_limits(tx: Tx, policy: Policy) -> dict[str, int]:
    return users.own_slot_limits(tx) if policy.fairness.mode is FairnessMode.ENFORCE else {}


def _grouped(
    found: Sequence[AttributedWait], courses: Sequence[Course], by: By
) -> dict[str, tuple[list[AttributedWait], int, str]]:
    """(waits, how many jobs wait still, tier) by name of the user or tier; of a user the tier of the newest job."""
    by_name: dict[str, list[AttributedWait]] = defaultdict(list)
    waiting: dict[str, int] = defaultdict(int)
    newest: dict[str, tuple[float, str]] = {}
    for course in courses:
        if course.user is not None and course.accepted is not None:
            name = course.user if by == "user" else course.tier.value
            waiting[name] += course.waits
            newest[name] = max(newest.get(name, (0.0, "")), (course.accepted, course.tier.value))
    for wait in found:
        if wait.course.user is not None:
            by_name[wait.course.user if by == "user" else wait.course.tier.value].append(wait)
    return {name: (by_name[name], waiting[name], tier) for name, (_, tier) in newest.items()}


def _sharing(courses: Sequence[Course], until: datetime) -> list[SharedHour]:
    return [
        SharedHour(hour.queue, datetime.fromtimestamp(hour.begin, UTC), hour.users, round(hour.index, 3))
        for hour in sharing(courses, until.timestamp())
    ]


def _waits(
    waits: Sequence[AttributedWait],
    waiting: int,
    tier: str,
    *,
    user: str | None,
    email: str | None,
    earlier: float | None,
) -> Waits:
    summary = summarise(waits)
    causes = {cause.value: round(seconds, 3) for cause, seconds in summary.causes.items()}
    p50, p95, mean = (round(seconds, 3) for seconds in (summary.p50, summary.p95, summary.mean))
    return Waits(tier, user, email, summary.jobs, waiting, p50, p95, mean, earlier_on_pro_minutes=earlier, **causes)


def _earlier_on_pro(
    courses: Sequence[Course],
    found: Sequence[AttributedWait],
    listed: Sequence[str],
    limits: Mapping[Tier, int],
    workers: Mapping[str, int],
) -> dict[str, float]:
    """Simulate how many minutes earlier each free user's jobs would start on Pro, on average."""
    held = {wait.course.user for wait in found if wait.seconds[Cause.OWN_LIMIT] > 0 and wait.course.tier is Tier.FREE}
    chosen = [user for user in listed if user in held][:MOST_UPGRADES]
    if not chosen or len(found) > MOST_SIMULATED:  # each wait found is a run
        return {}
    runs = [run for course in courses if (run := course.recorded)]
    pause = simulation.turnaround(runs)
    before = simulation.simulate([run.arrival for run in runs], limits, workers, turnaround=pause)
    earlier = {}
    for user in chosen:
        after = simulation.simulate(_on_pro(runs, user), limits, workers, turnaround=pause)
        earlier[user] = round((_mean_wait(before, user) - _mean_wait(after, user)) / 60, 2)
    return earlier


def _on_pro(runs: Sequence[Run], user: str) -> list[simulation.Arrival]:
    return [
        replace(arrival, tier=Tier.PRO, queue=select_queue(Service(arrival.service), Tier.PRO))
        if arrival.user == user
        else arrival
        for arrival in (run.arrival for run in runs)
    ]


def _mean_wait(runs: Sequence[Run], user: str) -> float:
    mine = [run.wait for run in runs if run.arrival.user == user]
    return sum(mine) / len(mine)
