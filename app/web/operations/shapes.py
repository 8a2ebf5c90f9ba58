"""Answers to operators."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.domain.plans import Plan
from app.services.fairness.change_limits import TierLimit
from app.services.fairness.report_waits import Report
from app.services.fairness.tenants import Tenant
from app.services.operations.audit import Finding
from app.services.operations.failures import Failures
from app.services.operations.nodes import Node
from app.services.operations.schedule import ShownEntry
from app.store.operations.dead_letters import DeadLetter
from app.store.operations.queues import QueueState
from app.store.operations.schedule_entries import Leader
from app.web.core.shapes import Shape, Whole


class AuditShape(Shape):
    """The audit's findings.  broken, unknown: numbers of invariants."""

    at: datetime
    broken: int
    unknown: int
    items: list[Finding]


class TenantsShape(Shape):
    """Users with work, those with the most waiting jobs first."""

    items: list[Tenant]


class FairnessShape(Whole[Report]):
    """Waits by user, with their causes."""


class TenureShape(Shape):
    """A user's tier.  limit: in force, for each service; own_limit: null unless an operator set one for this user."""

    user_id: UUID
    email: str | None
    tier: str
    limit: int
    own_limit: int | None


class TierShape(Whole[TierLimit]):
    """The limit of a tier."""


class PlanShape(Whole[Plan]):
    """What a tier may use; null: unlimited, or for ever."""


class TiersShape(Shape):
    """Tiers, the smallest first."""

    items: list[TierLimit]


class QueuesShape(Shape):
    """All queues."""

    items: list[QueueState]


class QueuePauseShape(Shape):
    """The new state."""

    queue: str
    paused: bool


class NodesShape(Shape):
    """Nodes by name.  A dead node is listed until its leases have been taken back."""

    items: list[Node]


class DeadLetterShape(Whole[DeadLetter]):
    """A dead letter with its whole payload."""


class DeadLettersShape(Shape):
    """Newest first, with the beginning of each payload; next: the cursor of the next page."""

    items: list[DeadLetter]
    next: int | None = None


class FailuresShape(Whole[Failures]):
    """Groups with the most jobs first."""


class ScheduleShape(Shape):
    """The schedule's entries by name.  leader: null if no beat ever led."""

    leader: Leader | None
    items: list[ShownEntry]


class EntryRunShape(Shape):
    """The outcome of a request to run a schedule entry.

    sent: false if it was asked for within 10 seconds, or its message still waits or runs.
    """

    name: str
    sent: bool
