"""Idempotency keys: one lock at a time, and answers that are kept for a day."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy.exc import IntegrityError

from app.store.core.unit_of_work import Tx
from app.store.jobs import idempotency
from app.store.jobs.idempotency import Stored
from tests.conftest import NOW, World


def locked(tx: Tx, user: UUID, key: str) -> bool:
    return idempotency.try_lock(tx, user, key)[0]


def test_a_locked_key_excludes_its_twins_until_its_transaction_ends(world: World) -> None:
    user, other = world.user(), world.user()
    with world.uow.begin() as first:
        assert locked(first, user, "key")
        with world.uow.begin() as twin:
            assert not locked(twin, user, "key")
            assert locked(twin, user, "other key")
            assert locked(twin, other, "key")
    with world.uow.begin() as later:
        assert locked(later, user, "key")


def test_a_locked_key_whose_request_failed_is_free_again_and_left_no_answer(world: World) -> None:
    user = world.user()

    def fails() -> None:
        with world.uow.begin() as tx:
            assert locked(tx, user, "key")
            idempotency.add(tx, user, "key", Stored(b"print", 202, {}), now=NOW)
            raise ConnectionError

    with pytest.raises(ConnectionError):
        fails()
    with world.uow.begin() as tx:
        assert idempotency.try_lock(tx, user, "key") == (True, None)


def test_an_answer_is_found_as_it_was_stored_and_only_by_its_owner(world: World) -> None:
    user, other = world.user(), world.user()
    answer = Stored(b"\x00\xff print", 202, {"id": "ä", "wait": None, "billed": False})
    with world.uow.begin() as tx:
        idempotency.add(tx, user, "key", answer, now=NOW)
    with world.uow.begin() as tx:
        assert idempotency.find(tx, user, "key") == answer
        assert idempotency.find(tx, other, "key") is None
        assert idempotency.find(tx, user, "KEY") is None


def test_keys_are_forgotten_by_age(world: World) -> None:
    user, answer = world.user(), Stored(b"print", 202, {})
    with world.uow.begin() as tx:
        for hours in (0, 23, 24, 25, 100):
            idempotency.add(tx, user, f"{hours} h", answer, now=NOW - timedelta(hours=hours))
        assert idempotency.prune(tx, before=NOW - timedelta(hours=24)) == 2
        kept = [key for key in ("0 h", "23 h", "24 h", "25 h") if idempotency.find(tx, user, key)]
    assert kept == ["0 h", "23 h", "24 h"]


def test_the_database_keeps_no_key_longer_than_the_contract_says(world: World) -> None:
    user, answer = world.user(), Stored(b"print", 202, {})
    with world.uow.begin() as tx:
        idempotency.add(tx, user, "k" * 255, answer, now=NOW)
    with pytest.raises(IntegrityError, match="idempotency_keys_key_check"), world.uow.begin() as tx:
        idempotency.add(tx, user, "k" * 256, answer, now=NOW)
