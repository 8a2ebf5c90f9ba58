"""Calls of a language model: what they may cost, and when they have to wait (docs/adr/0048)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta
from decimal import Decimal
from enum import StrEnum
from uuid import UUID

#: How often to check again while another process probes.
PROBE_LOOK_SECONDS = 2.0
#: If an endpoint asks us to wait longer than this, it is tried again after this time all the same.
LONGEST_HOLD = timedelta(seconds=300)


@dataclass(frozen=True, slots=True)
class Tokens:
    """Tokens that a call may use, or has used, as the endpoint counts them."""

    input: int = 0
    output: int = 0

    @property
    def total(self) -> int:
        """Tokens sent and received."""
        return self.input + self.output

    def __add__(self, other: Tokens) -> Tokens:
        return Tokens(self.input + other.input, self.output + other.output)

    def __sub__(self, other: Tokens) -> Tokens:
        return Tokens(self.input - other.input, self.output - other.output)


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits of the model for all processes together.

    tokens_per_day, cost_per_day: for a UTC day, None for no limit; share: what part of them one account may use;
    prices: per million tokens, in the currency of cost_per_day; failures: failed calls in a row that open the circuit;
    reset: how long it stays open; probe: time after which an unanswered probe is given up, longer than any call may
    take.
    """

    requests_per_minute: int = 600
    tokens_per_day: int | None = None
    cost_per_day: Decimal | None = None
    share: Decimal = Decimal(1)
    input_price: Decimal = Decimal(0)
    output_price: Decimal = Decimal(0)
    failures: int = 5
    reset: timedelta = timedelta(seconds=60)
    probe: timedelta = timedelta(minutes=5)

    def cost(self, tokens: Tokens) -> Decimal:
        """Cost of a call, or of the difference between two."""
        return (tokens.input * self.input_price + tokens.output * self.output_price) / 1_000_000

    def of_account(self, accounts: int) -> Limits:
        """The limits of one account: its share of the day, or an equal part where that is more.

        accounts: at least 1; a larger number than 1 / share changes nothing.
        """

        def part(limit: Decimal) -> Decimal:
            return max(limit * self.share, limit / accounts)

        tokens = None if self.tokens_per_day is None else int(part(Decimal(self.tokens_per_day)))
        return replace(self, tokens_per_day=tokens, cost_per_day=self.cost_per_day and part(self.cost_per_day))


class Cap(StrEnum):
    """The reason why no call is made any more."""

    TOKENS_PER_DAY = "tokens_per_day"
    COST_PER_DAY = "cost_per_day"
    SHARE_OF_DAY = "share_of_day"


@dataclass(frozen=True, slots=True)
class Entered:
    """A call that may be made.  day: which counts its estimate; probe: its token, if it is the circuit's probe."""

    day: date
    estimate: Tokens
    probe: UUID | None = None


@dataclass(frozen=True, slots=True)
class CallWait:
    """The call must wait.  seconds: before asking again; outage: the endpoint is failing, not the calls too fast."""

    seconds: float
    outage: bool = False


@dataclass(frozen=True, slots=True)
class Refused:
    """No more calls today."""

    cap: Cap


@dataclass(frozen=True, slots=True)
class Circuit:
    """The state of an endpoint, which all processes share.

    opened_at: None while it is closed; probing_until: while one call of all processes tests whether the endpoint works
    again; held_until: how long the endpoint asked us to wait.
    """

    failures: int = 0
    opened_at: datetime | None = None
    probing_until: datetime | None = None
    held_until: datetime | None = None

    def way(self, limits: Limits, now: datetime) -> CallWait | bool:
        """Decide whether a call must wait, and otherwise whether it is the probe."""
        if held := _left(self.held_until, LONGEST_HOLD, now):
            return CallWait(held, outage=True)
        if self.opened_at is None:
            return False
        if closed_for := _left(self.opened_at + limits.reset, limits.reset, now):
            return CallWait(closed_for, outage=True)
        if probing := _left(self.probing_until, limits.probe, now):
            return CallWait(min(PROBE_LOOK_SECONDS, probing), outage=True)
        return True


def _left(until: datetime | None, longest: timedelta, now: datetime) -> float:
    """Seconds until an instant, 0 once it has passed.

    One that is further away than it was ever set was set before the clock went back, and counts as passed.
    """
    left = until - now if until is not None else timedelta(0)
    return left.total_seconds() if timedelta(0) < left <= longest else 0.0
