"""Cells on servers of their own, in which the service has the rights of the application only."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest
from sqlalchemy import create_engine, pool
from sqlalchemy.engine import make_url

from app import embedded
from app.domain.lifecycle import Outcome
from app.migrate import migrate
from app.services.cells.move_account import move
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, publishing
from tests.services.cells.accounts import broken, ended, everything, picture


@contextmanager
def cell() -> Iterator[World]:
    with tempfile.TemporaryDirectory(prefix="fairlane-cell-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with embedded.hold(Path(folder) / "home", durable=False) as server:
            owner = create_engine(server.owner_url, poolclass=pool.NullPool)
            migrate(owner, role=make_url(server.url).username)
            engine = make_engine(server.url)
            yield World(UnitOfWork(engine, publishing()))
            engine.dispose()


@pytest.mark.proof
def test_an_account_moves_from_server_to_server_and_back(world: World) -> None:
    with ExitStack() as stack:
        second, third = (stack.enter_context(cell()) for _ in range(2))
        mine = everything(world)
        before = picture(world, mine.user)
        for epoch, (source, target) in enumerate([(world, second), (second, third)], 1):
            move(source.uow, target.uow, mine.user, epoch=epoch)
            assert picture(target, mine.user) == before
            assert broken(source) == broken(target) == []
        for job in mine.jobs:
            assert ended(third, mine.user, job) is Outcome.COMPLETED
        assert broken(third) == []
