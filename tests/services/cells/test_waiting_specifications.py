"""A specification that waits costs in its new cell what it has reserved, from the commit that decides the move."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.domain.specification import Mode
from app.services.cells import move_account
from app.services.cells.move_account import move, settle
from app.services.cells.send_ahead import Sent
from tests.conftest import A_FILE, World
from tests.services.cells.accounts import broken
from tests.services.specifications.writing import Writing, file_of, of_a_model

TESTS = ("test_one", "test_two", "test_three")


class DiedError(Exception):
    """The mover does nothing more."""


@pytest.fixture(autouse=True)
def dying(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mover dies when its move is decided."""

    def die(*_: object) -> None:
        raise DiedError

    monkeypatch.setattr(move_account, "clear_up", die)


def known_by_another_id(world: World, there: World) -> None:
    """The other cell has analysed the repository before."""
    other = there.user(Tier.PRO)
    there.finish(there.running(other, world.wanted()), other, [A_FILE])


def waiting(world: World, payer: UUID, user: UUID, *, is_private: bool) -> UUID:
    """A specification that has one unit reserved, as one of three tests was written of before for the payer."""
    writing = Writing(of_a_model(world))
    first = writing.analysed(payer, file_of("test_a.py", *TESTS[:2]))
    world.rows("UPDATE codebases SET is_private = :is_private RETURNING id", is_private=is_private)
    writing.written(payer, first)
    second = writing.analysed(user, file_of("test_a.py", *TESTS))
    job_id = writing.submit(user, second)
    assert world.value("SELECT reserved_amount FROM quota_reservations") == 1
    return job_id


def arrived(world: World, there: World, user: UUID) -> Writing:
    """The new cell, when the mover has died."""
    with pytest.raises(DiedError):
        move(world.uow, there.uow, user, epoch=1)
    assert there.rows("SELECT id FROM users WHERE id = :id", id=user)
    return Writing(of_a_model(there))


@pytest.mark.parametrize("is_known", [False, True])
@pytest.mark.parametrize("is_private", [False, True])
def test_it_finds_what_the_account_has_paid_for(
    world: World, there: World, *, is_private: bool, is_known: bool
) -> None:
    if is_known:
        known_by_another_id(world, there)
        there.rows("UPDATE codebases SET is_private = :is_private RETURNING id", is_private=is_private)
    user = world.user(Tier.PRO)
    job_id = waiting(world, user, user, is_private=is_private)
    writing = arrived(world, there, user)
    assert (there.value("SELECT id FROM codebases") != world.value("SELECT id FROM codebases")) is is_known
    assert writing.write(writing.started(user, job_id), user) is Outcome.COMPLETED
    assert writing.billed(user) == len(TESTS)
    assert settle(world.uow, there.uow, user, epoch=1)
    assert (broken(world), broken(there)) == ([], [])


@pytest.mark.parametrize("is_known", [False, True])
def test_it_finds_what_another_account_has_paid_for(world: World, there: World, *, is_known: bool) -> None:
    if is_known:
        known_by_another_id(world, there)
    user = world.user(Tier.PRO)
    job_id = waiting(world, world.user(Tier.PRO), user, is_private=False)
    writing = arrived(world, there, user)
    assert writing.write(writing.started(user, job_id), user) is Outcome.COMPLETED
    assert writing.billed(user) == 1
    assert settle(world.uow, there.uow, user, epoch=1)
    assert (broken(world), broken(there)) == ([], [])


def test_it_may_be_asked_for_while_the_account_is_about_to_be_locked(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The words that it needs were written after others had been copied."""
    known_by_another_id(world, there)
    user, ahead, asked = world.user(Tier.PRO), move_account.send_ahead, list[UUID]()

    def ask_before(*given: Any) -> Sent:
        if not asked:
            asked.append(waiting(world, user, user, is_private=False))
        return ahead(*given)

    monkeypatch.setattr(move_account, "send_ahead", ask_before)
    writing = arrived(world, there, user)
    assert writing.write(writing.started(user, asked[0]), user) is Outcome.COMPLETED
    assert writing.billed(user) == len(TESTS)
    assert settle(world.uow, there.uow, user, epoch=1)
    assert (broken(world), broken(there)) == ([], [])


def test_what_it_leaves_for_the_next_one_is_paid_for(world: World, there: World) -> None:
    known_by_another_id(world, there)
    user = world.user(Tier.PRO)
    job_id = waiting(world, user, user, is_private=False)
    writing = arrived(world, there, user)
    writing.write(writing.started(user, job_id), user)
    analysis = there.value("SELECT analysis_id FROM spec_requests WHERE job_id = :id", id=job_id)
    assert isinstance(analysis, UUID)
    assert writing.cost(user, analysis, Mode.REGENERATE_CACHED) == 0
