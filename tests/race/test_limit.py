"""Sixty-four clients over real connections at a limit: as many accepts as there are units, not one more or less.

RACE_ACCEPTS submissions (1,000 in the suite, 100,000 by `make prove-quota`), once by one user, once by many.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import pytest

from tests.conftest import World
from tests.race.crowd import Order, RunOrders, crowd
from tests.race.invariants import broken
from tests.tiers import proofs

ACCEPTS = int(os.environ.get("RACE_ACCEPTS", "1000"))
PROCESSES, THREADS = 2, 32


@pytest.fixture(scope="module")
def clients() -> Iterator[RunOrders]:
    """In processes that have imported the service, once for all tests."""
    with crowd(PROCESSES) as begun:
        yield begun


@pytest.mark.timeout(3600)
@pytest.mark.parametrize("crowded", proofs([1, 16, ACCEPTS // 40], but=[]), ids=["one user", "few users", "many users"])
def test_sixty_four_clients_at_a_limit_get_exactly_as_many_accepts_as_there_are_units(
    world: World, database_url: str, clients: RunOrders, crowded: int
) -> None:
    # a limit that takes in half of what one user asks for, at least; so that accepts and refusals are mixed
    each = -(-ACCEPTS // (PROCESSES * THREADS))
    asked = each * PROCESSES * THREADS
    limit = asked // crowded // 2
    users = tuple(world.user(analyses=limit) for _ in range(crowded))
    begun = time.monotonic()
    seen = clients([Order(database_url, users, process, THREADS, each) for process in range(PROCESSES)])
    seconds = time.monotonic() - begun
    refused = asked - limit * crowded
    print(f"{asked} submissions of {crowded} users at a limit of {limit}: {refused} refused, {asked / seconds:.0f}/s")
    assert sum(seen.values()) == asked
    assert {user: seen[f"{user} accepted"] for user in users} == dict.fromkeys(users, limit)
    assert sum(n for outcome, n in seen.items() if outcome.endswith("QuotaExceeded")) == refused
    held = world.rows("SELECT user_id, sum(reserved_amount) AS units FROM quota_reservations GROUP BY user_id")
    assert {row["user_id"]: row["units"] for row in held} == dict.fromkeys(users, limit)
    assert world.value("SELECT count(*) FROM kombu_message") == limit * crowded
    assert broken(world) == []
    assert world.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") == 0
