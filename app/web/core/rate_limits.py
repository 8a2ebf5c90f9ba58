"""The remaining requests of a client, in the fields RateLimit and RateLimit-Policy of each answer that was counted.

Their form is that of draft-ietf-httpapi-ratelimit-headers, the version of 2025.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from flask import Flask, Response, g

from app.errors import TooManyRequests

WINDOW = 60  # seconds in which an empty bucket fills
READS, WRITES = "reads", "writes"


@dataclass(frozen=True, slots=True)
class Left:
    """The rest of a limit.

    remaining: requests; seconds: until the limit is whole again, or until a refused request will be granted.
    """

    per_minute: int
    remaining: int
    seconds: int


def init(app: Flask) -> None:
    """Add the fields to each answer that was counted."""
    app.after_request(_tell)


def note(policy: str, per_minute: int, remaining: int) -> None:
    """A request was granted.  remaining: negative in debt."""
    seconds = math.ceil((per_minute - remaining) * WINDOW / per_minute)
    _all()[policy] = Left(per_minute, max(0, remaining), seconds)


@contextmanager
def refusals(policy: str, per_minute: int) -> Iterator[None]:
    """Note a refusal in the answer's fields, and raise it again."""
    try:
        yield
    except TooManyRequests as refused:
        _all()[policy] = Left(per_minute, 0, refused.retry_after or WINDOW)
        raise


def _all() -> dict[str, Left]:
    if "rate_limits" not in g:
        g.rate_limits = {}
    found: dict[str, Left] = g.rate_limits
    return found


def _tell(response: Response) -> Response:
    if left_by_policy := g.get("rate_limits"):
        policies = (f'"{policy}";q={left.per_minute};w={WINDOW}' for policy, left in left_by_policy.items())
        response.headers["RateLimit-Policy"] = ", ".join(policies)
        limits = (f'"{policy}";r={left.remaining};t={left.seconds}' for policy, left in left_by_policy.items())
        response.headers["RateLimit"] = ", ".join(limits)
    return response
