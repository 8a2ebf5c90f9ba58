"""Calls of a language model: what they may cost, and when they are held back (docs/adr/0048)."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

#: How often to look again while another process probes.
PROBE_LOOK_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class Tokens:
    """What a call takes, or took, as the endpoint counts."""

    input: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """Both directions."""
        return self.input + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.output + other.output)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.input - other.input, self.output - other.output)


@dataclass(frozen=True, slots=True)
class Limits:
    """What all processes together may ask of the model.

    tokens_per_day, cost_per_day: of a day of UTC, None for no limit; prices: per million tokens, in the currency of
    cost_per_day; failures: calls in a row that open the circuit; reset: how long it stays open; probe: after which a
    probe without an answer is given up, more than a call may take.
    """

    requests_per_minute: int = 600
    tokens_per_day: int | None = None
    cost_per_day: Decimal | None = None
    input_price: Decimal = Decimal(0)
    output_price: Decimal = Decimal(0)
    failures: int = 5
    reset: timedelta = timedelta(seconds=60)
    probe: timedelta = timedelta(minutes=5)

    def cost(self, tokens: Tokens) -> Decimal:
        """Of a call, or of the difference of two."""
        return (tokens.input * self.input_price + tokens.output * self.output_price) / 1_000_000


class Cap(StrEnum):
    """Why no call is made any more."""

    TOKENS_PER_DAY = "tokens_per_day"
    COST_PER_DAY = "cost_per_day"


@dataclass(frozen=True, slots=True)
class Entered:
    """A call that may be made.  day: its estimate is counted there; probe: its token, if the circuit hangs on it."""

    day: date
    estimate: Tokens
    probe: UUID | None = None


@dataclass(frozen=True, slots=True)
class Wait:
    """Not now.  seconds: until it is worth to ask again; outage: the endpoint fails, it is not that we are too fast."""

    seconds: float
    outage: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """Not today."""

    cap: Cap


@dataclass(frozen=True, slots=True)
class Circuit:
    """What all processes know of an endpoint.

    opened_at: None while it is closed; probing_until: while one call of all processes tries whether it works again;
    held_until: as long as the endpoint asked us to wait.
    """

    failures: int = 0
    opened_at: datetime | None = None
    probing_until: datetime | None = None
    held_until: datetime | None = None

    def way(self, limits: Limits, now: datetime) -> Wait | bool:
        """Whether a call must wait; else whether it is the probe."""
        if self.held_until is not None and self.held_until > now:
            return Wait((self.held_until - now).total_seconds(), outage=True)
        if self.opened_at is None:
            return False
        if (closed_for := self.opened_at + limits.reset - now) > timedelta(0):
            return Wait(closed_for.total_seconds(), outage=True)
        if self.probing_until is not None and self.probing_until > now:
            return Wait(min(PROBE_LOOK_SECONDS, (self.probing_until - now).total_seconds()), outage=True)
        return True
