"""The directory and a move: whatever dies in between, both agree in the end."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from functools import partial
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.domain.cells import AccountCell
from app.errors import Busy, Conflict, InvalidInput, NotFound, Unavailable
from app.services.accounts.forget import forget
from app.services.cells import change_cell, move_account
from app.services.cells.cells import Cells
from app.services.cells.change_cell import settle_left
from app.services.cells.refuse_moving import refuse_moving
from app.services.cells.register import unregister
from app.store.accounts import passkeys
from app.store.cells import directory, keys, movers
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import NOW, World, publishing
from tests.databases import Databases

#: The locks of movers in this database.
HELD = """
    FROM pg_locks JOIN pg_database d ON d.oid = database WHERE locktype = 'advisory' AND datname = current_database()"""


@pytest.fixture
def cells(databases: Databases) -> Iterator[Cells]:
    with ExitStack() as stack:
        urls = [stack.enter_context(databases.copy()) for _ in range(2)]
        urls.append(stack.enter_context(databases.new()))
        a, b, known = (UnitOfWork(stack.enter_context(databases.engine(url)), publishing()) for url in urls)
        with known.begin() as tx:
            directory.create(tx)
        yield Cells("a", {"a": a, "b": b}, known)


def person(cells: Cells) -> tuple[UUID, str]:
    user_id = World(cells.uows["a"]).user()
    return user_id, f"{user_id}@example.org"


def place(cells: Cells, user_id: UUID) -> AccountCell | None:
    with cells.directory.once() as tx:
        return directory.place_of(tx, user_id)


def homes(cells: Cells, user_id: UUID) -> list[str]:
    found = []
    for cell, uow in cells.uows.items():
        with uow.once() as tx:
            found += [cell] * keys.is_here(tx, user_id)
    return found


def test_an_account_whose_passkey_another_one_has_claimed_stays_and_says_why(cells: Cells) -> None:
    user_id, email = person(cells)
    claimed = (("a", user_id), ("b", World(cells.uows["b"]).user()))
    for cell, whose in claimed:
        uow = cells.uows[cell]
        with uow.begin() as tx:
            key = {"credential_id": b"one", "public_key": b"-", "sign_count": 0, "name": "-", "now": uow.now()}
            assert passkeys.add(tx, whose, **key)
    for _ in range(2):  # it is not left half-way
        with pytest.raises(Conflict, match="passkeys_credential_id_key"):
            change_cell.change_cell(cells, email, "b", actor="test")
        assert homes(cells, user_id) == ["a"]
        found = place(cells, user_id)
        assert found
        assert found.moving_to is None
    with cells.uows["b"].begin() as tx:
        passkeys.remove_all(tx, claimed[1][1])
    change_cell.change_cell(cells, email, "b", actor="test")
    assert homes(cells, user_id) == ["b"]


def test_an_account_that_the_directory_did_not_know_moves_there_and_back(cells: Cells) -> None:
    user_id, email = person(cells)
    for epoch, to in ((2, "b"), (3, "a")):
        change_cell.change_cell(cells, email, to, actor="test")
        assert place(cells, user_id) == AccountCell(user_id, to, epoch)
        assert homes(cells, user_id) == [to]
        moves = World(cells.uows[to]).rows("SELECT actor, facts FROM audit_log WHERE action = 'user.move' ORDER BY id")
        assert moves[-1] == {"actor": "test", "facts": {"before": {"a": "b", "b": "a"}[to], "after": to}}


def test_what_cannot_be_moved_is_refused(cells: Cells) -> None:
    _, email = person(cells)
    with pytest.raises(Conflict, match="lives in a"):
        change_cell.change_cell(cells, email, "a", actor="test")
    with pytest.raises(InvalidInput, match="expected one of a, b"):
        change_cell.change_cell(cells, email, "c", actor="test")
    with pytest.raises(NotFound, match="no account for"):
        change_cell.change_cell(cells, "nobody@example.org", "b", actor="test")


def test_one_process_at_a_time_moves_an_account(cells: Cells) -> None:
    user_id, email = person(cells)
    with movers.only_one(cells.directory.engine, user_id) as is_ours:
        assert is_ours
        with pytest.raises(Conflict, match="is moving"):
            change_cell.change_cell(cells, email, "b", actor="test")
        begin(cells, email)
        assert settle_left(cells, actor="test") == []
    assert settle_left(cells, actor="test") == [AccountCell(user_id, "a", 2)]
    assert (homes(cells, user_id), place(cells, user_id)) == (["a"], AccountCell(user_id, "a", 2))


def test_a_move_whose_end_was_not_noted_is_settled_in_the_new_cell(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_id, email = person(cells)
    with monkeypatch.context() as patch:
        patch.setattr(change_cell, "_end", died)
        with pytest.raises(OperationalError):
            change_cell.change_cell(cells, email, "b", actor="test")
    assert place(cells, user_id) == AccountCell(user_id, "a", 2, "b")
    assert settle_left(cells, actor="test") == [AccountCell(user_id, "b", 2)]
    assert (homes(cells, user_id), place(cells, user_id)) == (["b"], AccountCell(user_id, "b", 2))


@pytest.mark.parametrize(
    "fault",
    [OperationalError("a connection", {}, Exception("lost")), InvalidInput("no such cell")],
    ids=["away", "unknown"],
)
def test_a_cell_that_cannot_be_used_keeps_no_other_account_from_being_settled(
    cells: Cells, monkeypatch: pytest.MonkeyPatch, fault: Exception
) -> None:
    (first, one), (second, other) = sorted(person(cells) for _ in range(2))
    for email in (one, other):
        begin(cells, email)
    settle = move_account.settle

    def away_at_first(source: UnitOfWork, target: UnitOfWork, user_id: UUID, *, epoch: int) -> bool:
        if user_id == first:
            raise fault
        return settle(source, target, user_id, epoch=epoch)

    with monkeypatch.context() as patch:
        patch.setattr(move_account, "settle", away_at_first)
        assert settle_left(cells, actor="test") == [AccountCell(second, "a", 2)]
    assert settle_left(cells, actor="test") == [AccountCell(first, "a", 2)]


def test_an_account_that_arrived_is_deleted_when_the_cell_that_it_left_has_ended_its_part(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_id, email = person(cells)
    b = replace(
        cells.uows["b"],
        unregister=partial(unregister, cells.directory, "b"),
        refuse_moving=partial(refuse_moving, cells.directory),
    )
    with monkeypatch.context() as patch:
        patch.setattr(UnitOfWork, "end_prepared", died)
        with pytest.raises(OperationalError):
            change_cell.change_cell(cells, email, "b", actor="test")
    with pytest.raises(Busy):
        forget(b, user_id, actor="test", now=NOW)
    assert settle_left(cells, actor="test") == [AccountCell(user_id, "b", 2)]
    forget(b, user_id, actor="test", now=NOW)
    assert (homes(cells, user_id), place(cells, user_id)) == ([], None)
    for uow in cells.uows.values():
        assert World(uow).rows("SELECT account_id FROM arrivals") == []
        assert World(uow).rows("SELECT id FROM audit_log WHERE subject = :user", user=str(user_id)) == []


def test_who_cannot_ask_the_directory_whether_an_account_moves_deletes_nothing(
    cells: Cells, monkeypatch: pytest.MonkeyPatch
) -> None:
    user_id, _ = person(cells)
    refusing = replace(cells.uows["a"], refuse_moving=partial(refuse_moving, cells.directory))
    monkeypatch.setattr(cells.directory.engine, "raw_connection", died)
    with pytest.raises(Busy):
        forget(refusing, user_id, actor="test", now=NOW)
    assert homes(cells, user_id) == ["a"]


def test_the_directory_forgets_an_account_that_was_deleted_as_its_move_began(cells: Cells) -> None:
    user_id, email = person(cells)
    begin(cells, email)
    with cells.directory.begin() as tx:  # a younger one may be of a sign-up that has not committed
        tx.run(text("UPDATE directory.accounts SET noted_at = noted_at - interval '2 minutes'"))
    forget(replace(cells.uows["a"], unregister=partial(unregister, cells.directory, "a")), user_id, actor="t", now=NOW)
    assert place(cells, user_id)
    settle_left(cells, actor="test")
    assert place(cells, user_id) is None


def test_a_later_move_first_settles_what_was_left(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    user_id, email = person(cells)
    with monkeypatch.context() as patch:
        patch.setattr(move_account, "move", died)
        with pytest.raises(OperationalError):
            change_cell.change_cell(cells, email, "b", actor="test")
    change_cell.change_cell(cells, email, "b", actor="test")
    assert (homes(cells, user_id), place(cells, user_id)) == (["b"], AccountCell(user_id, "b", 3))


def test_a_refused_move_leaves_the_account_where_it_is(cells: Cells, monkeypatch: pytest.MonkeyPatch) -> None:
    user_id, email = person(cells)

    def refuse(*_: object, **__: object) -> None:
        raise Unavailable("later")

    with monkeypatch.context() as patch:
        patch.setattr(move_account, "move", refuse)
        with pytest.raises(Unavailable):
            change_cell.change_cell(cells, email, "b", actor="test")
    assert (homes(cells, user_id), place(cells, user_id)) == (["a"], AccountCell(user_id, "a", 2))


def begin(cells: Cells, email: str) -> None:
    """Note that a move begins, and do no more."""
    with cells.directory.begin() as tx:
        known = change_cell._place(cells, email)
        assert directory.begin_move(tx, known.user_id, "b")


def died(*_: object, **__: object) -> None:
    raise OperationalError("a connection", {}, Exception("lost"))


def test_who_moved_an_account_lets_it_go_and_keeps_the_session(cells: Cells) -> None:
    user_id, _ = person(cells)
    engine, seen = cells.directory.engine, list[int]()
    for _ in range(2):
        with movers.only_one(engine, user_id) as is_ours, engine.connect() as other:
            assert is_ours
            seen += other.exec_driver_sql(f"SELECT pid {HELD}").scalars()
    assert len(set(seen)) == 1
    assert len(seen) == 2


@pytest.mark.parametrize("is_sent", [False, True])
def test_a_process_that_is_interrupted_as_it_lets_an_account_go_keeps_no_lock(
    cells: Cells, monkeypatch: pytest.MonkeyPatch, is_sent: bool
) -> None:
    """A sweep may have a time limit, and its worker goes on with the next task."""
    user_id, _ = person(cells)
    engine, run = cells.directory.engine, movers._run

    def interrupted(connection: object, statement: str, whose: UUID) -> bool:
        if "unlock" in statement:
            if is_sent:
                run(connection, statement, whose)
            raise KeyboardInterrupt
        return run(connection, statement, whose)

    with monkeypatch.context() as patch:
        patch.setattr(movers, "_run", interrupted)
        with pytest.raises(KeyboardInterrupt), movers.only_one(engine, user_id):
            pass
    with engine.connect() as kept, movers.only_one(engine, user_id) as is_ours:  # by another session
        assert is_ours
        assert not kept.connection.driver_connection.autocommit  # type: ignore[union-attr]


def test_a_directory_that_went_away_during_a_move_does_not_undo_it(cells: Cells) -> None:
    user_id, _ = person(cells)
    engine = cells.directory.engine
    with movers.only_one(engine, user_id) as is_ours, engine.connect() as other:
        assert is_ours
        other.exec_driver_sql(f"SELECT pg_terminate_backend(pid) {HELD}").scalars()
    with movers.only_one(engine, user_id) as is_ours:
        assert is_ours
