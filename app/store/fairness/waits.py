"""Waits in a span of the timeline, and the users who have work in the queues now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.domain.attribution import Course
from app.domain.plans import Plan, Tier
from app.store.accounts.plans import plan_of
from app.store.accounts.users import USER_OF_TENANT
from app.store.core.unit_of_work import Tx

#: How many events one query reads, the newest first: about 100,000 jobs.
MOST_EVENTS = 300_000

# Nearly every job was accepted, started and completed once; then three numbers are cheaper to read than an array.
# The newest come first, so that the maximum leaves out the oldest and reads no more than allowed
_COURSES = text("""
    WITH newest AS MATERIALIZED (
        SELECT id, job_id, extract(epoch FROM at)::float8 AS at, event FROM job_events
         WHERE at >= :since AND at < :until
           AND event IN ('accepted', 'started', 'retrying', 'completed', 'failed', 'cancelled')
         ORDER BY id DESC LIMIT :most),
    jobs AS (
        SELECT job_id, array_agg(at ORDER BY id) AS instants, string_agg(left(event, 2), '' ORDER BY id) AS happened
          FROM newest GROUP BY job_id),
    -- most jobs of the span were accepted in it: they are read by time, the others one by one
    asked AS MATERIALIZED (
        SELECT job_id, user_id, tier, queue FROM analysis_requests
         WHERE role = 'payer' AND requested_at >= :since AND requested_at < :until)
    SELECT instants[1] AS first, instants[2] AS second, instants[3] AS third,
           CASE WHEN happened <> 'acstco' THEN instants END AS instants, happened,
           coalesce(c.user_id, r.user_id, o.user_id) AS user_id,
           coalesce(c.tier, r.tier, o.tier) AS tier, coalesce(c.queue, r.queue, o.queue) AS queue, n.events, n.oldest
      FROM jobs j LEFT JOIN asked r ON r.job_id = j.job_id
      LEFT JOIN LATERAL (SELECT user_id, tier, queue FROM analysis_requests
                          WHERE job_id = j.job_id AND role = 'payer' AND r.job_id IS NULL OFFSET 0) o ON true
      -- a wait is put down to whoever carried the job in the end: the slots it waited for are theirs
      LEFT JOIN (SELECT DISTINCT ON (job_id) job_id, user_id, tier, queue FROM analysis_requests
                  WHERE carried_at IS NOT NULL ORDER BY job_id, carried_at DESC) c ON c.job_id = j.job_id
     CROSS JOIN (SELECT count(*) AS events, min(at) AS oldest FROM newest) n
     WHERE coalesce(r.queue, o.queue) IS NOT NULL""")
# The rows of a day would otherwise be sorted on disk.
_MEMORY = text("SET LOCAL work_mem = '64MB'")
# operators act rarely; pausing a paused queue changes nothing
_PAUSES = text("""
    SELECT subject AS queue, action, extract(epoch FROM at)::float8 AS at FROM audit_log
     WHERE action IN ('queue.pause', 'queue.resume') AND at < :until ORDER BY id DESC LIMIT 10000""")
_EMAILS = text("SELECT id, email FROM users WHERE id = ANY(CAST(:ids AS uuid[]))")
# the broker's own view of its groups: cheap at any size, exact up to 10,000 each
_TENANTS = text(f"""
    WITH waiting AS (
        SELECT g.name, split_part(q.name, '_', 1) AS service, sum(g.ready) AS ready, sum(g.delayed + g.parked) AS held,
               max(g.oldest_seconds) AS oldest_seconds
          FROM broker_queue q CROSS JOIN LATERAL broker_group_facts(q.name, CAST(:who AS text), :most) g
         WHERE g.name <> '' GROUP BY 1, 2 HAVING sum(g.ready + g.delayed + g.parked) > 0),
    running AS (SELECT user_id::text AS name, service, count(*) AS running FROM execution_slots
                 WHERE CAST(:who AS text) IS NULL OR user_id = CAST(:who AS uuid) GROUP BY 1, 2)
    SELECT u.id AS user_id, u.email, service, p.tier, p.concurrent_jobs, p.analyses_per_period,
           p.spec_units_per_period, p.retention_days, coalesce(r.running, 0) AS running,
           CAST(coalesce(w.ready, 0) AS bigint) AS ready, CAST(coalesce(w.held, 0) AS bigint) AS held,
           coalesce(w.oldest_seconds, 0) AS oldest_seconds, u.run_seconds, u.slot_limit
      FROM waiting w FULL JOIN running r USING (name, service)
      JOIN users u ON u.id = {USER_OF_TENANT}
      LEFT JOIN user_subscriptions s ON s.user_id = u.id AND s.status = 'active'
      JOIN subscription_plans p ON p.tier = coalesce(s.tier, 'free')
     ORDER BY coalesce(w.ready, 0) + coalesce(w.held, 0) DESC, r.running DESC NULLS LAST, u.id LIMIT :most""")


@dataclass(frozen=True, slots=True)
class SeenCourses:
    """Jobs of a span, in no order.  since: where the span that was read begins, which may be later than requested."""

    courses: list[Course]
    since: datetime


class CourseRow(NamedTuple):
    """The events of one job, in the form that `seen` reads.  events, oldest: of the whole span."""

    first: float | None
    second: float | None
    third: float | None
    instants: list[float] | None
    happened: Any
    user_id: UUID | None
    tier: str | None
    queue: str | None
    events: int
    oldest: float


class TenantRow(NamedTuple):
    """A user with work of a service, and the columns of the plan.

    held: parked, snoozed or delayed; oldest_seconds: of the ready.
    """

    user_id: UUID
    email: str | None
    service: str
    tier: str
    concurrent_jobs: int
    analyses_per_period: int | None
    spec_units_per_period: int | None
    retention_days: int | None
    running: int
    ready: int
    held: int
    oldest_seconds: float
    run_seconds: float | None
    slot_limit: int | None


def courses(tx: Tx, *, since: datetime, until: datetime, most: int = MOST_EVENTS) -> SeenCourses:
    """The jobs with an event in [since, until); most: how many of the newest events to read."""
    return seen(events(tx, since=since, until=until, most=most), since=since, until=until, most=most)


def events(tx: Tx, *, since: datetime, until: datetime, most: int = MOST_EVENTS) -> Sequence[CourseRow]:
    """The events of the span by job, for `seen`, which needs no transaction."""
    tx.write(_MEMORY)
    return tx.run(_COURSES, since=since, until=until, most=most).values(CourseRow)


def seen(rows: Sequence[CourseRow], *, since: datetime, until: datetime, most: int = MOST_EVENTS) -> SeenCourses:
    """The jobs of what `events` has read with the same arguments."""
    if rows and rows[0].events >= most:
        since = datetime.fromtimestamp(rows[0].oldest, UTC)
    begin, end = since.timestamp(), until.timestamp()
    return SeenCourses([_course(row, begin, end) for row in rows], since)


def pauses(tx: Tx, *, until: datetime) -> list[tuple[str, float, float]]:
    """(queue, from, to) of each pause, in seconds since the epoch; a pause that is not over ends with the span."""
    began: dict[str, float] = {}
    found: list[tuple[str, float, float]] = []
    for row in reversed(tx.run(_PAUSES, until=until).all()):
        if row.action == "queue.pause":
            began.setdefault(row.queue, row.at)
        elif row.queue in began:
            found.append((row.queue, began.pop(row.queue), row.at))
    return found + [(queue, at, until.timestamp()) for queue, at in began.items()]


def emails(tx: Tx, ids: Sequence[str]) -> dict[str, str | None]:
    """Read the e-mail addresses by user id; None for an anonymous user."""
    return {str(row.id): row.email for row in tx.run(_EMAILS, ids=list(ids))}


def tenants(tx: Tx, *, most: int, user_id: UUID | None = None) -> list[tuple[Plan, TenantRow]]:
    """(plan, row) of users with jobs that wait or run, those with the most waiting first; or of one user.

    Above 10,000 waiting in a queue the numbers are estimates.
    """
    found = tx.run(_TENANTS, most=most, who=user_id and str(user_id)).values(TenantRow)
    return [(plan_of(row), row) for row in found]


def _course(row: CourseRow, since: float, until: float) -> Course:
    first, second, third, instants, happened, user_id, tier, queue, *_ = tuple(row)
    user = None if user_id is None else str(user_id)
    if instants is None:
        return Course(user, _TIERS[tier], queue, first, ((second, third),), ended=True)
    steps = [happened[at : at + 2] for at in range(0, len(happened), 2)]
    accepted, runs = _runs(instants, steps, since, until)
    return Course(user, _TIERS[tier], queue, accepted, runs, steps[-1] in _ENDS)


def _runs(
    instants: Sequence[float], happened: Sequence[str], since: float, until: float
) -> tuple[float | None, tuple[tuple[float, float], ...]]:
    """(when it was accepted, None: before the span; its runs)."""
    accepted: float | None = None
    runs: list[tuple[float, float]] = []
    begun: float | None = None
    for at, event in zip(instants, happened, strict=True):
        if event == "ac":
            accepted = at
            continue
        if begun is None and accepted is None and not runs and event in _ENDS_OF_RUNS:
            begun = since  # it was running when the span began
        if begun is not None:
            runs.append((begun, at))
        begun = at if event == "st" else None
    if begun is not None:
        runs.append((begun, until))
    return accepted, tuple(runs)


_TIERS: dict[str | None, Tier] = {None: Tier.FREE, **{tier.value: tier for tier in Tier}}
# the first two letters of: completed, failed, cancelled; and retrying
_ENDS = frozenset({"co", "fa", "ca"})
_ENDS_OF_RUNS = frozenset({"co", "fa", "re"})
