"""What a specification would cost is counted cheaply, and before anybody waits for it (docs/adr/0047)."""

from __future__ import annotations

import time
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import pytest
from sqlalchemy import text

from app.domain.plans import Tier
from app.domain.specification import Mode
from app.errors import NotFound
from tests.conftest import World
from tests.services.specifications.writing import SHOP, Writing

WAITS = """
    SELECT count(*) FROM pg_locks WHERE relation = CAST('spec_words' AS regclass) AND NOT granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())"""
FREE = text("SELECT 1 FROM users WHERE id = :id FOR UPDATE SKIP LOCKED")


def test_the_tests_of_an_analysis_are_read_once(writing: Writing) -> None:
    user_id = writing.world.user(Tier.PRO)
    analysis = writing.analysed(user_id, SHOP)
    assert writing.cost(user_id, analysis) == 2
    writing.written(user_id, analysis)
    writing.world.rows("UPDATE file_inventories SET tests = '[]' RETURNING 1")  # what nobody reads again
    assert writing.cost(user_id, analysis, Mode.REGENERATE_CACHED) == 0
    assert writing.cost(user_id, analysis, Mode.REGENERATE_FRESH) == 2


def test_an_analysis_that_is_gone_has_no_price_although_it_was_read(writing: Writing) -> None:
    user_id = writing.world.user(Tier.PRO)
    analysis = writing.analysed(user_id, SHOP)
    assert writing.cost(user_id, analysis) == 2
    writing.world.rows("DELETE FROM analysis_requests WHERE job_id = :id RETURNING 1", id=analysis)
    writing.world.rows("DELETE FROM analyses WHERE id = :id RETURNING 1", id=analysis)
    with pytest.raises(NotFound):
        writing.cost(user_id, analysis)


def test_nothing_of_a_user_is_locked_while_units_are_counted(writing: Writing) -> None:
    world = writing.world
    user_id = world.user(Tier.PRO)
    analysis = writing.analysed(user_id, SHOP)
    with ThreadPoolExecutor(1) as threads:
        with world.uow.begin() as tx:
            tx.run(text("LOCK TABLE spec_words IN ACCESS EXCLUSIVE MODE"))
            asked = threads.submit(writing.ask, user_id, analysis)
            waits(world)
            assert is_free(world, user_id)
        assert not asked.result().is_known


def waits(world: World) -> None:
    """Until somebody waits for the words."""
    until = time.monotonic() + 60
    while not world.value(WAITS):
        assert time.monotonic() < until


def is_free(world: World, user_id: UUID) -> bool:
    with world.uow.begin() as tx:
        return tx.run(FREE, id=user_id).one_or_none() is not None
