"""The directory: one account has an address, over all cells, whatever is left undone."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import replace
from datetime import timedelta
from functools import partial
from uuid import uuid4

import pytest
from sqlalchemy import text

from app.domain.cells import AccountCell, cell_for
from app.domain.plans import Tier
from app.errors import Conflict
from app.services.accounts import accounts
from app.services.accounts.forget import forget
from app.services.cells.register import Adopted, adopt, register
from app.services.cells.register import unregister as remove_account
from app.store.accounts import users
from app.store.cells import directory, keys
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import NOW
from tests.databases import Databases

ANN = "ann@example.org"


@pytest.fixture
def known(databases: Databases) -> Iterator[UnitOfWork]:
    """A directory."""
    with ExitStack() as stack:
        engine = stack.enter_context(databases.engine(stack.enter_context(databases.new())))
        made = UnitOfWork(engine)
        with made.begin() as tx:
            assert directory.create(tx)
        yield made


def place(known: UnitOfWork, email: str) -> AccountCell | None:
    with known.once() as tx:
        return directory.place_of_address(tx, email)


def older(known: UnitOfWork) -> None:
    with known.begin() as tx:
        tx.run(text("UPDATE directory.accounts SET noted_at = noted_at - interval '61 seconds'"))


def test_the_tables_are_made_once(known: UnitOfWork) -> None:
    with known.begin() as tx:
        assert not directory.create(tx)


def test_an_address_of_an_account_in_its_cell_stays_taken(known: UnitOfWork, uow: UnitOfWork) -> None:
    user_id = uuid4()
    with uow.begin() as tx:
        users.add(tx, user_id, email=ANN, now=NOW)
        assert register(known, {"a": uow}, "a", user_id, ANN)
        assert register(known, {"a": uow}, "a", user_id, ANN)  # as after a lost answer
    older(known)
    assert not register(known, {"a": uow}, "b", uuid4(), "Ann@Example.org")
    assert place(known, ANN) == AccountCell(user_id, "a", 1)


def test_an_account_that_was_never_made_keeps_its_address_for_a_minute(known: UnitOfWork, uow: UnitOfWork) -> None:
    first, second = uuid4(), uuid4()
    assert register(known, {"a": uow}, "a", first, ANN)  # and its transaction is rolled back, or has not committed yet
    assert not register(known, {"a": uow}, "b", second, ANN)
    older(known)
    assert register(known, {"a": uow}, "b", second, ANN)
    assert place(known, ANN) == AccountCell(second, "b", 1)


@pytest.mark.parametrize("orphaned", [False, True])
def test_of_many_who_want_an_address_at_once_one_gets_it(
    known: UnitOfWork, uow: UnitOfWork, databases: Databases, orphaned: bool
) -> None:
    """orphaned: a process has died between the two commits of an account, more than a minute ago."""
    with ExitStack() as stack:
        other = UnitOfWork(stack.enter_context(databases.engine(stack.enter_context(databases.copy()))))
        cells = {"a": uow, "b": other}
        together = threading.Barrier(8)

        def sign_up(n: int, email: str) -> bool:
            cell = "ab"[n % 2]
            own = replace(cells[cell], register=partial(register, known, cells, cell))
            together.wait(60)
            with suppress(Conflict):
                accounts.add_user(own, email, tier=Tier.FREE, actor="test", now=NOW)
                return True
            return False

        pool = stack.enter_context(ThreadPoolExecutor(8))
        for each in range(10):
            email = f"u{each}@example.org"
            if orphaned:
                assert register(known, cells, "ab"[each % 2], uuid4(), email)
                older(known)
            assert sum(pool.map(sign_up, range(8), [email] * 8)) == 1
            found = place(known, email)
            assert found
            with cells[found.cell].begin() as tx:
                assert keys.is_here(tx, found.user_id)


def test_an_account_that_is_moving_keeps_its_address(known: UnitOfWork, uow: UnitOfWork) -> None:
    user_id = uuid4()
    assert register(known, {"a": uow}, "a", user_id, ANN)
    older(known)
    with known.begin() as tx:
        assert directory.begin_move(tx, user_id, "b") == AccountCell(user_id, "a", 2, "b")
        assert directory.begin_move(tx, user_id, "c") is None
    assert not register(known, {"a": uow, "b": uow}, "b", uuid4(), ANN)


def test_an_account_that_has_moved_since_it_was_looked_up_is_not_given_up(known: UnitOfWork, uow: UnitOfWork) -> None:
    user_id = uuid4()
    assert register(known, {"a": uow}, "a", user_id, ANN)
    older(known)
    read = place(known, ANN)
    assert read
    with known.begin() as tx:  # between the look-up and the question to the cell, which has no such account
        begun = directory.begin_move(tx, user_id, "b")
        assert begun
        directory.end_move(tx, begun, moved=True)
        assert not directory.drop(tx, read)
        again = directory.begin_move(tx, user_id, "a")
        assert again
        directory.end_move(tx, again, moved=False)
        assert not directory.drop(tx, AccountCell(user_id, "b", 2))
    assert place(known, ANN) == AccountCell(user_id, "b", 3)


def test_a_deleted_account_leaves_its_address_at_once(known: UnitOfWork, uow: UnitOfWork) -> None:
    user_id = uuid4()
    unregister = partial(remove_account, known, "a")
    with uow.begin() as tx:
        users.add(tx, user_id, email=ANN, now=NOW)
        assert register(known, {"a": uow}, "a", user_id, ANN)
    with known.begin() as tx:
        directory.learn(tx, b"key", user_id)
    remove_account(known, "b", user_id)
    assert place(known, ANN) == AccountCell(user_id, "a", 1)
    forget(replace(uow, unregister=unregister), user_id, actor="test", now=NOW)
    assert place(known, ANN) is None
    with known.once() as tx:
        assert directory.place_of_key(tx, b"key") is None
    assert register(known, {"a": uow}, "a", uuid4(), ANN)


def test_an_address_of_a_cell_that_is_not_in_the_settings_stays_taken(known: UnitOfWork, uow: UnitOfWork) -> None:
    assert register(known, {"a": uow}, "a", uuid4(), ANN)
    older(known)
    assert not register(known, {"b": uow}, "b", uuid4(), ANN)


@pytest.mark.parametrize(("moved", "cell"), [(True, "b"), (False, "a")])
def test_a_move_ends_once(known: UnitOfWork, moved: bool, cell: str) -> None:
    user_id = uuid4()
    with known.begin() as tx:
        assert directory.add(tx, user_id, "a", ANN)
        begun = directory.begin_move(tx, user_id, "b")
        assert begun
        assert directory.moving(tx) == [begun]
        directory.end_move(tx, begun, moved=moved)
        directory.end_move(tx, begun, moved=not moved)
        assert directory.place_of(tx, user_id) == AccountCell(user_id, cell, 2)
        assert directory.begin_move(tx, user_id, cell) is None


def test_adopting_notes_people_once_and_removes_who_has_gone(known: UnitOfWork, uow: UnitOfWork) -> None:
    gone, taken = uuid4(), uuid4()
    with uow.begin() as tx:
        for n in range(150):  # more than a batch
            users.add(tx, uuid4(), email=f"u{n}@example.org", now=NOW)
        users.add(tx, taken, email=ANN, now=NOW)
        users.add(tx, uuid4(), kind="anonymous", email=None, now=NOW)
    with known.begin() as tx:
        directory.add(tx, gone, "a", "gone@example.org")
        directory.add(tx, uuid4(), "b", ANN)
    older(known)
    assert adopt(known, "a", uow) == Adopted(150, 1, [ANN])
    assert adopt(known, "a", uow) == Adopted(0, 0, [ANN])
    assert place(known, "gone@example.org") is None


def test_keys_are_forgotten_by_their_age_and_with_their_account(known: UnitOfWork) -> None:
    user_id = uuid4()
    with known.begin() as tx:
        directory.add(tx, user_id, "a", ANN)
        directory.learn(tx, b"old", user_id)
        tx.run(text("UPDATE directory.keys SET learned_at = learned_at - interval '2 days'"))
        directory.learn(tx, b"new", user_id)
        directory.learn(tx, b"nobody's", uuid4())
        assert directory.forget_keys(tx, age=timedelta(days=1), most=10) == 1
        keys = [directory.place_of_key(tx, key) for key in (b"old", b"new", b"nobody's")]
    assert keys == [None, AccountCell(user_id, "a", 1), None]


def test_a_new_cell_takes_its_share_from_each_other() -> None:
    names = [f"198.51.{n // 256}.{n % 256}" for n in range(3000)]
    before, after = (
        {name: cell_for(name, cells) for name in names} for cells in (["a", "b", "c"], ["a", "b", "c", "d"])
    )
    moved = {name for name in names if before[name] != after[name]}
    assert {after[name] for name in moved} == {"d"}
    for cell in "abc":
        assert 0.2 < sum(before[name] == cell for name in moved) / len([n for n in names if before[n] == cell]) < 0.3
