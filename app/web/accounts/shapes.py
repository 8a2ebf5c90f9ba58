"""Answers about accounts, tokens and quota."""

from __future__ import annotations

from datetime import datetime
from typing import Literal
from uuid import UUID

from app.store.accounts.credentials import ValidToken
from app.store.jobs.quota import Reservation
from app.web.core.shapes import Shape


class MeterShape(Shape):
    """Units of this period.  limit null: unlimited."""

    used: int
    reserved: int
    limit: int | None
    free: int | None
    level: Literal["ok", "warn", "danger", "spent"]


class UsageShape(Shape):
    """Units of this period, by kind."""

    tier: str
    period_start: datetime
    resets_at: datetime
    analysis: MeterShape
    specview: MeterShape


class ReservationsShape(Shape):
    """Reserved units, oldest first."""

    items: list[Reservation]


class QuotaShape(Shape):
    """The decision of an accept now; nothing is reserved."""

    event_type: str
    amount: int
    allowed: bool
    used: int
    reserved: int
    limit: int | None
    resets_at: datetime


class MeShape(Shape):
    """The account behind a token or session."""

    user_id: UUID
    email: str | None
    tier: str
    is_operator: bool
    is_read_only_operator: bool
    scopes: list[str]


class MadeTokenShape(Shape):
    """A new token.  token: shown only once; only its hash is stored."""

    id: UUID
    prefix: str
    name: str
    scopes: list[str]
    created_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None
    token: str


class TokensShape(Shape):
    """The account's tokens, newest first."""

    items: list[ValidToken]
