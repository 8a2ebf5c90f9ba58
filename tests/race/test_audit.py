"""The audit while clients, workers, the broker and the sweep are at it: it finds nothing, at whatever moment it looks."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import count, islice
from random import Random
from threading import Event
from uuid import UUID, uuid4

import pytest
from service_harness.deliveries import lease_next

from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.plans import Tier
from app.errors import Problem
from app.services.analyses.submit import submit
from app.services.operations.audit import HOLDS, audit
from app.services.operations.dead_letters import Chosen, redrive
from app.services.operations.reconcile import reconcile
from app.services.operations.sweep import sweep
from app.store.jobs.idempotency import Stored
from tests.conftest import A_FILE, World, id_of, keyed
from tests.services.busy import bury, leave

#: So many that each outcome comes several times, whatever the order: some 130 jobs, of which 4 to 7 fail.
CLIENTS, WORKERS, EACH = 3, 3, 120
LOOKS = 3
PASSES = Failure("internal_error", "Something failed on our side.", retryable=True)
STAYS = Failure("too_large", "The repository is larger than 2 GB.")


@dataclass
class Town:
    """What the threads share.  commits: few, so that requests meet; looks: of the auditor."""

    world: World
    users: list[UUID]
    commits: list[str] = field(default_factory=lambda: [uuid4().hex + "0" * 8 for _ in range(60)])
    closed: Event = field(default_factory=Event)
    looks: int = 0


def client(town: Town, seed: int) -> int:
    """Asks, asks again, and changes its mind; how often it was accepted."""
    chance, accepted = Random(seed), 0
    for number in range(EACH):
        user = chance.choice(town.users)
        wanted = town.world.wanted(commit=chance.choice([*town.commits, None]), retry=chance.random() < 0.7)
        key = keyed(f"{seed} {number}", b"f" * 32) if chance.random() < 0.3 else None
        with suppress(Problem):
            answer = submit(town.world.uow, user, wanted, town.world.policy, key=key, now=town.world.now)
            accepted += isinstance(answer, Stored) or not answer.is_known
            if chance.random() < 0.3:
                leave(town.world, id_of(answer), user)
    return accepted


def worker(town: Town, seed: int) -> set[Outcome]:
    """Claims and ends whatever way comes; what came of it."""
    chance, outcomes = Random(seed), set[Outcome]()
    while True:
        closed = town.closed.is_set()  # before the look, so that nothing comes after a last look in vain
        with town.world.uow.begin() as tx:
            found = lease_next(tx, seconds=3600)
        if found:
            outcomes.add(end(town.world, found.delivery, found.user_id, chance))
        elif closed:
            return outcomes


def end(world: World, delivery: Delivery, user: UUID | None, chance: Random) -> Outcome:
    if chance.random() < 0.1:  # the broker gives it up; sometimes an operator is faster than the sweep
        letter = bury(world, delivery.job_id)  # none where its user was faster, and cancelled it
        if letter is not None and chance.random() < 0.5:
            redrive(world.uow, Chosen((letter,)), actor="test")
        return Outcome.STALE
    if (outcome := world.start(delivery, user)) is not Outcome.STARTED:
        return outcome
    match chance.randrange(8):
        case 0:
            return world.fail(delivery, user, STAYS)
        case 1:
            return world.fail(delivery, user, PASSES)
        case 2:
            world.lose(delivery.job_id)
            return world.finish(delivery, user, [A_FILE])
    return world.finish(delivery, user, [A_FILE])


def sweeper(town: Town) -> None:
    while not town.closed.is_set():
        sweep(town.world.uow, town.world.policy, now=town.world.now)


def auditor(town: Town) -> list[object]:
    """What it found wrong."""
    wrong: list[object] = []
    while not town.closed.is_set():
        found = audit(town.world.uow)
        wrong += [(finding.number, finding.rows) for finding in found if finding.status != HOLDS]
        wrong += reconcile(town.world.uow, now=town.world.now).differences
        town.looks += 1
    return wrong


@pytest.mark.proof
def test_an_audit_at_any_moment_of_a_busy_service_finds_nothing(world: World) -> None:
    town = Town(world, [world.user(Tier.ENTERPRISE), world.user(Tier.ENTERPRISE), world.user(Tier.FREE, analyses=25)])
    with ThreadPoolExecutor(CLIENTS + WORKERS + 2) as threads:
        looking, sweeping = threads.submit(auditor, town), threads.submit(sweeper, town)
        working = [threads.submit(worker, town, 100 + number) for number in range(WORKERS)]
        try:
            accepted, seeds = 0, count()
            while town.looks < LOOKS:
                accepted += sum(threads.map(client, [town] * CLIENTS, islice(seeds, CLIENTS)))
        finally:
            town.closed.set()
        sweeping.result()
        outcomes = set[Outcome]().union(*(each.result() for each in working))
    assert looking.result() == []
    assert accepted > EACH // 2
    assert {Outcome.COMPLETED, Outcome.FAILED, Outcome.RETRY, Outcome.STALE} <= outcomes
    assert [finding.number for finding in audit(world.uow) if finding.status != HOLDS] == []
