"""What operators get: shapes of the OpenAPI document, like those of answers.py."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from app.web.core.answers import Shape


class Tenant(Shape):
    """A user with work of a service.  held: parked, snoozed or delayed; run_seconds: how long recent jobs took."""

    user_id: UUID
    email: str | None
    tier: str
    service: str
    limit: int
    running: int
    ready: int
    held: int
    oldest_seconds: float
    run_seconds: float | None


class Tenants(Shape):
    """Those with the most waiting first."""

    items: list[Tenant]


class Waits(Shape):
    """For a tier or user, in seconds.  wait_mean is the sum of the four causes after it; waiting: not started yet."""

    tier: str
    user_id: UUID | None = None
    email: str | None = None
    jobs: int
    waiting: int
    wait_p50: float
    wait_p95: float
    wait_mean: float
    own_limit: float
    paused: float
    others: float
    no_worker: float
    earlier_on_pro_minutes: float | None = None


class SharingHour(Shape):
    """Jain's index of the users who had jobs waiting in that hour."""

    queue: str
    hour: datetime
    users: int
    index: float


class Fairness(Shape):
    """since: where the span that was read begins; more: users who are not listed."""

    since: datetime
    until: datetime
    by: Literal["user", "tier"]
    items: list[Waits]
    more: int
    sharing: list[SharingHour]


class Tenure(Shape):
    """A user's tier.  limit: in force, for each service; own_limit: null unless an operator set one for this user."""

    user_id: UUID
    email: str | None
    tier: str
    limit: int
    own_limit: int | None


class TierShape(Shape):
    """slots: the limit in force; of_plan: the plan's; by_setting: whether FAIRNESS_*_LIMIT determines it instead."""

    tier: str
    slots: int
    of_plan: int
    by_setting: bool


class Tiers(Shape):
    """The smallest first."""

    items: list[TierShape]


class QueueFacts(Shape):
    """Messages by state.  snoozed is part of delayed; estimated: names of the numbers that are estimates.

    oldest_parked_seconds: age of the oldest message that waits for a slot of its own user, parked or snoozed.
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
    estimated: list[str]


class Queues(Shape):
    """All queues."""

    items: list[QueueFacts]


class QueueState(Shape):
    """The new state."""

    queue: str
    paused: bool


class RunningShape(Shape):
    """A job that a node runs.  user_id: whose slot it has, null for the schedule."""

    job_id: UUID
    queue: str
    user_id: UUID | None
    started_at: datetime


class NodeShape(Shape):
    """A Celery node as the database knows it.

    name: HOST:PID; seen_at: when its session last did something; processes: its concurrency, null if unknown; lent: of
    the queues, those that only its idle processes serve; leased: messages that it holds, running or about to.
    """

    name: str
    is_alive: bool
    since: datetime
    seen_at: datetime | None
    queues: list[str]
    processes: int | None
    lent: list[str]
    leased: int
    running: list[RunningShape]


class Nodes(Shape):
    """By name.  A dead node is listed until its leases have been taken back."""

    items: list[NodeShape]


class DeadLetter(Shape):
    """A message that the broker gave up.  payload: in a list only its beginning; payload_size: bytes of the whole."""

    id: int
    queue: str | None
    task_id: str | None
    user_id: str | None
    reason: str
    delivery_count: int | None
    lost_count: int | None
    enqueued_at: datetime | None
    died_at: datetime
    payload_size: int | None
    payload: str | None


class DeadLetters(Shape):
    """Newest first; next: the cursor of the next page."""

    items: list[DeadLetter]
    next: int | None = None


class FailureGroup(Shape):
    """Failed jobs with the same code and message.

    message: with … for names and N for numbers; users, repositories: how many; examples: ids of its newest jobs.
    """

    service: Literal["analysis", "specview"]
    code: str
    message: str
    jobs: int
    first_at: datetime
    last_at: datetime
    users: int
    repositories: int
    examples: list[UUID]


class Failures(Shape):
    """Groups with the most jobs first.  is_cut: older failures were not read, and since is the oldest that was."""

    since: datetime
    until: datetime
    jobs: int
    is_cut: bool
    items: list[FailureGroup]


class LeaderShape(Shape):
    """The beat that last took the lead, HOST:PID.  is_alive: a beat leads now."""

    name: str
    since: datetime
    is_alive: bool


class ScheduleEntry(Shape):
    """every_seconds: in force; of_code_seconds: unless an operator changes it; next_at: null while it is disabled."""

    name: str
    task: str
    queue: str
    every_seconds: int
    of_code_seconds: int
    is_enabled: bool
    last_at: datetime | None
    next_at: datetime | None
    is_late: bool


class Schedule(Shape):
    """By name.  leader: null if no beat ever led."""

    leader: LeaderShape | None
    items: list[ScheduleEntry]


class EntryRun(Shape):
    """sent: false if it was asked for within 10 seconds, or its message still waits or runs."""

    name: str
    sent: bool
