"""How many messages to PostgreSQL the steps of a job take (bench/round_trips.py prints all of them)."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.domain.fairness import Mode
from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.store.session import Session
from app.store.unit_of_work import UnitOfWork
from tests.conftest import World

Count = Callable[[Callable[[], object]], int]


@pytest.fixture
def trips(monkeypatch: pytest.MonkeyPatch) -> Count:
    """How many messages a step sends."""
    sent: list[None] = []
    right = Session._send

    def send(self: Session) -> object:
        sent.append(None)
        return right(self)

    monkeypatch.setattr(Session, "_send", send)

    def count(step: Callable[[], object]) -> int:
        sent.clear()
        step()
        return len(sent)

    return count


@pytest.fixture
def piped(world: World) -> World:
    """A world whose transactions are sent as the service sends them."""
    return replace(world, uow=UnitOfWork(world.uow.engine, world.uow.publisher))


@pytest.mark.parametrize("mode", Mode)
def test_a_start_takes_two_round_trips(piped: World, trips: Count, mode: Mode) -> None:
    world = piped.with_policy(fairness=replace(piped.policy.fairness, mode=mode))
    user = world.user(Tier.ENTERPRISE)
    delivery = world.lease(world.submit(user))
    outcomes: list[Outcome] = []
    assert trips(lambda: outcomes.append(world.start(delivery, user))) == 2
    assert outcomes == [Outcome.STARTED]


def test_a_start_over_a_dead_workers_slot_takes_two_round_trips(piped: World, trips: Count) -> None:
    user = piped.user()
    delivery = piped.running(user)
    piped.lose(delivery.job_id)
    again = piped.lease(delivery.job_id)
    assert trips(lambda: piped.start(again, user)) == 2
    assert piped.rows("SELECT lease_token FROM execution_slots") == [{"lease_token": again.lease_token}]
