"""Bodies and parameters that operators send: strict, like the rest of schemas.py."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Literal

from pydantic import Field, StringConstraints, model_validator

from app.services.accounts.plans import LEAST, MOST
from app.services.fairness.change_limits import HIGHEST_SLOT_LIMIT
from app.web.core.schemas import Body, Instant, PageQuery, Plain, Query

SlotLimit = Annotated[
    int, Field(ge=1, le=HIGHEST_SLOT_LIMIT, description="How many jobs of each service may run at once")
]

GivenReason = Annotated[Plain, StringConstraints(strip_whitespace=True, min_length=1)]

#: The windows that failures are shown of.
WINDOWS = {"24h": timedelta(hours=24), "7d": timedelta(days=7)}


class NewTier(Body):
    """The tier to give a user."""

    tier: Literal["free", "pro", "pro_plus", "enterprise"]


class NewLimit(Body):
    """The slot limit to give a tier."""

    limit: SlotLimit


Units = Annotated[int, Field(ge=LEAST["analyses_per_period"], le=MOST)]
Days = Annotated[int, Field(ge=LEAST["retention_days"], le=MOST)]


class NewQuota(Body):
    """What a tier may use in a period; members that are left out stay as they are."""

    analyses_per_period: Annotated[Units | None, Field(description="null: unlimited")] = None
    spec_units_per_period: Annotated[Units | None, Field(description="null: unlimited")] = None
    retention_days: Annotated[Days | None, Field(description="Days that results are kept; null: for ever")] = None


class QuotaForm(Query):
    """What a tier may use, from its form; an empty field: no limit."""

    analyses_per_period: Units | None = None
    spec_units_per_period: Units | None = None
    retention_days: Days | None = None
    sure: Literal["true"]


class NewUserLimit(Body):
    """The slot limit to give one user."""

    limit: Annotated[SlotLimit | None, Field(description="null: the tier's limit")]


class PauseQueue(Body):
    """A request to pause a queue, or to resume it."""

    paused: bool = True
    reason: Annotated[GivenReason | None, Field(description="Why, for other operators; kept in the audit log")] = None


class TierForm(Query):
    """The tier to give a user, from its form."""

    tier: Literal["free", "pro", "pro_plus", "enterprise"]


class LimitForm(Query):
    """A limit to set, from its form with the box that says that the operator means it; an empty field removes it."""

    limit: SlotLimit | None = None
    sure: Literal["true"]


class PauseForm(Query):
    """A request to pause a queue, or to resume it, from its form."""

    paused: bool
    reason: GivenReason | None = None

    @model_validator(mode="after")
    def _has_a_reason(self) -> PauseForm:
        if self.paused and not self.reason:
            raise ValueError("say why the queue is paused")
        return self


class ConfirmForm(Query):
    """The box that says that the operator means it."""

    sure: Literal["true"]


class AuditQuery(Query):
    """How far back to look, and how many rows to show of each invariant."""

    since: Annotated[Instant | None, Field(description="Leave out jobs accepted earlier; default: none")] = None
    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class FairnessQuery(Query):
    """How far back to look, and how to group."""

    since: Annotated[Instant | None, Field(description="Default: the last 24 hours")] = None
    by: Literal["user", "tier"] = "tier"


class DeadQuery(PageQuery):
    """Which dead letters to list, and from where."""

    queue: Annotated[Plain | None, Field(description="Only of this queue")] = None
    reason: Literal["lost", "rejected", "undecodable"] | None = None


LetterId = Annotated[int, Field(ge=1, le=2**63 - 1)]


class DeadPageQuery(DeadQuery):
    """The query of the page, with what was done with many letters just before.

    stay: letters that could not be redriven or dropped; gone: letters that others had handled; after: the last letter,
    if more letters follow it.
    """

    act: Literal["redrive", "drop"] | None = None
    done: Annotated[int, Field(ge=0)] = 0
    stay: Annotated[int, Field(ge=0)] = 0
    gone: Annotated[int, Field(ge=0)] = 0
    after: LetterId | None = None


class ManyQuery(Query):
    """Many dead letters.  after: only those with larger ids."""

    queue: Plain | None = None
    reason: Literal["lost", "rejected", "undecodable"] | None = None
    after: Annotated[int, Field(ge=0, le=2**63 - 1)] = 0


class ManyForm(ManyQuery):
    """The form for many letters.  last: the largest id that was shown; letters: how many were."""

    last: LetterId
    letters: Annotated[int, Field(ge=1)]
    sure: Literal["true"]


class TenantsQuery(Query):
    """How many users to list."""

    limit: Annotated[int, Field(ge=1, le=1000)] = 100


class FailuresQuery(Query):
    """The window whose failures are grouped."""

    window: Annotated[Literal["24h", "7d"], Field(description="How far back to look")] = "24h"


Every = Annotated[int, Field(ge=60, le=7 * 86_400)]


class ChangeEntry(Body):
    """How often beat sends an entry, and whether it does."""

    every_seconds: Annotated[
        Every | None, Field(description="It divides the interval of the code; null: that interval")
    ] = None
    enabled: bool = True
    reason: Annotated[GivenReason | None, Field(description="Why; kept in the audit log, needed to disable")] = None

    @model_validator(mode="after")
    def _has_a_reason(self) -> ChangeEntry:
        if not self.enabled and not self.reason:
            raise ValueError("say why the entry is disabled")
        return self


class EntryForm(Query):
    """The form of an entry, in minutes; an empty field means the interval of the code."""

    minutes: Annotated[int | None, Field(ge=1, le=7 * 1440)] = None
    enabled: bool = False
    reason: GivenReason | None = None

    @model_validator(mode="after")
    def _has_a_reason(self) -> EntryForm:
        if not self.enabled and not self.reason:
            raise ValueError("say why the entry is disabled")
        return self


class JobsQuery(Query):
    """Which jobs of all users to show.  user: an e-mail address; cursor: `next` of the page before."""

    state: Literal["queued", "waiting", "retrying", "running", "completed", "failed", "cancelled"] | None = None
    service: Literal["analysis", "specview"] | None = None
    queue: Plain | None = None
    tier: Literal["free", "pro", "pro_plus", "enterprise"] | None = None
    user: Plain | None = None
    repository: Plain | None = None
    error: Plain | None = None
    cursor: Annotated[int | None, Field(ge=1, le=2**62)] = None

    def narrowed(self) -> dict[str, str]:
        """The active filters, as parameters of an address."""
        return {name: str(value) for name, value in self if value and name != "cursor"}
