"""How long a place for a long body is kept, and waited for."""

from __future__ import annotations

import asyncio

from app.server import bodies, bridge


def test_a_body_is_behind_once_it_brought_too_little_and_a_burst_pays_for_little_time() -> None:
    place = bodies.BodyPlace(asyncio.Timeout(None), now=100.0)
    place.received(10 * bodies.RATE, now=100.0)
    assert place.due == 100.0 + bodies.GRACE
    for second in range(101, 110):
        place.received(bodies.RATE, now=second)
        assert place.due >= second
    place.received(1, now=112.0)
    assert place.due < 112.0


def test_a_place_for_a_long_body_is_waited_for_briefly() -> None:
    assert bodies.GRACE + bodies.JUDGED_EVERY < bodies.PATIENCE
    assert bodies.PATIENCE <= 5 < bridge.BODY_SECONDS
