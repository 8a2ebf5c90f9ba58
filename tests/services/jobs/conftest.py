"""How many messages a step sends to PostgreSQL."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from app.store.core.session import Session
from app.store.core.unit_of_work import UnitOfWork
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
