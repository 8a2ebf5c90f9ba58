"""Twenty posts of each key at the same moment, in two processes: one job, whoever wins, and every answer is true.

RACE_KEYS keys (60 in the suite, 10,000 by `make prove-quota`).  One of the twenty asks for something else.
"""

from __future__ import annotations

import os
import time
from collections import Counter, defaultdict

import pytest
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.accounts import tokens
from tests.conftest import World
from tests.race.invariants import broken
from tests.race.posts import Seen, Share, post_all

pytestmark = pytest.mark.proof

KEYS = int(os.environ.get("RACE_KEYS", "60"))
PROCESSES, TWINS, USERS = 2, 10, 4
IN_FLIGHT, MISMATCH = "/problems/idempotency-in-flight", "/problems/idempotency-mismatch"


@pytest.mark.timeout(7200)
def test_twenty_twins_of_a_key_make_one_job_and_a_stranger_under_it_makes_none(world: World, database_url: str) -> None:
    with world.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = NULL"))
    headers = []
    for _ in range(USERS):
        token = tokens.add_token(world.uow, world.user(Tier.PRO), scopes=("read", "write"), now=world.now)
        headers.append({"Authorization": f"Bearer {token.secret}"})
    begun = time.monotonic()
    seen = post_all([Share(database_url, headers, KEYS, TWINS, process) for process in range(PROCESSES)])
    seconds = time.monotonic() - begun
    counts = Counter((status, problem, replayed) for _, status, _, replayed, problem in seen)
    print(f"{KEYS} keys, {len(seen)} posts in {seconds:.0f} s: {dict(counts)}")
    assert len(seen) == KEYS * PROCESSES * TWINS
    assert wrong(seen) == []
    assert world.value("SELECT count(*) FROM idempotency_keys") == KEYS
    assert world.value("SELECT count(*) FROM kombu_message") == KEYS
    assert world.value("SELECT count(*) FROM quota_reservations") == KEYS
    assert {str(row["job_id"]) for row in world.rows("SELECT job_id FROM analysis_requests")} == {
        job for _, _, job, _, _ in seen if job
    }
    assert broken(world) == []


def wrong(seen: list[Seen]) -> list[str]:
    """Keys of which the answers contradict each other."""
    by_kind: dict[str, list[tuple[int, str | None, bool, str | None]]] = defaultdict(list)
    for kind, *answer in seen:
        by_kind[kind].append(tuple(answer))
    found = []
    for number in range(KEYS):
        twins, strangers = by_kind[f"key{number}"], by_kind[f"key{number} other"]
        jobs = {job for _, job, _, _ in twins + strangers if job}
        fresh = [status for status, job, replayed, _ in twins + strangers if job and not replayed]
        refusals = {(status, problem) for status, job, _, problem in twins + strangers if job is None}
        if len(jobs) != 1 or len(fresh) != 1 or not refusals <= {(409, IN_FLIGHT), (422, MISMATCH)}:
            found.append(f"key{number}: {sorted(jobs)} {fresh} {refusals}")
        # whose body won, its twins are never told that it is another, and the others never get the job
        won, lost = (twins, strangers) if any(job for _, job, _, _ in twins) else (strangers, twins)
        if any(problem == MISMATCH for *_, problem in won) or any(job for _, job, _, _ in lost):
            found.append(f"key{number}: bodies were mixed up")
    return found
