"""A repository is read while its last result is pruned: it is shown with its numbers, or not at all."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import psycopg2.extensions
import pytest
from sqlalchemy import event

from app.domain.plans import Tier
from app.domain.repositories import Repository
from app.services.operations.prune import prune
from app.services.results.read_repository import read_repository
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import NOW, World

SHOP = Repository("github.com", "acme", "shop")
#: More than the read has.
STATEMENTS = 14


class Meanwhile:
    """A database in which something happens before one of the statements of a reader.  seen: how many there were."""

    def __init__(self, url: str) -> None:
        self.happens: dict[int, Callable[[], object]] = {}
        self.seen = 0
        self.engine = make_engine(url, pool_size=1)
        self.uow = UnitOfWork(self.engine)
        event.listen(self.engine, "do_connect", self._watched)

    def _watched(self, _dialect: Any, _record: Any, _arguments: Any, options: dict[str, Any]) -> None:
        place = self

        class Cursor(psycopg2.extensions.cursor):
            def execute(self, *given: Any) -> None:
                place.seen += 1
                place.happens.pop(place.seen, lambda: None)()
                super().execute(*given)

        options.update(cursor_factory=Cursor)


@pytest.fixture
def meanwhile(database_url: str) -> Iterator[Meanwhile]:
    made = Meanwhile(database_url)
    with made.engine.connect():
        pass
    made.seen = 0
    yield made
    made.engine.dispose()


@pytest.mark.proof
def test_a_result_that_is_pruned_between_two_statements_is_no_job_without_numbers(
    world: World, meanwhile: Meanwhile
) -> None:
    shown = []
    for moment in range(1, STATEMENTS):
        user = world.user(Tier.FREE)
        world.finish(world.running(user, world.wanted("shop")), user)
        meanwhile.seen, meanwhile.happens = 0, {moment: lambda: prune(world.uow, now=NOW + timedelta(days=60))}
        found = read_repository(meanwhile.uow, SHOP, world.policy, now=NOW)
        assert [job.status for job in found.analyses if job.summary is None] == [], moment
        shown.append(len(found.analyses))
        meanwhile.happens.clear()
        prune(world.uow, now=NOW + timedelta(days=60))
    assert set(shown) == {0, 1}  # before and after the last look at it
    assert meanwhile.seen < STATEMENTS
