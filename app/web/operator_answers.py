"""What operators get: shapes of the OpenAPI document, like those of answers.py."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from app.web.answers import Shape


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
    """Messages by state.  snoozed is part of delayed; estimated: names of the numbers that are estimates."""

    queue: str
    paused: bool
    ready: int
    oldest_seconds: float
    leased: int
    delayed: int
    snoozed: int
    parked: int
    dead: int
    estimated: list[str]


class Queues(Shape):
    """All six queues."""

    items: list[QueueFacts]


class QueueState(Shape):
    """The new state."""

    queue: str
    paused: bool
