"""What an account changes while it moves is so in the new cell, or the change says that there is no such account."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy.exc import IntegrityError

from app.domain.repositories import Repository
from app.errors import Problem
from app.services.accounts import bookmarks, sessions
from app.services.specifications import share_links
from app.store.accounts.users import Account
from tests.conftest import NOW, World
from tests.race.invariants import broken
from tests.services.cells.crossing import STRIDE, Act, Crossing, places
from tests.services.specifications.writing import Writing, file_of

#: How many rows an account has of a table.
COUNT = {
    "bookmarks": "SELECT count(*) FROM bookmarks WHERE user_id = :user",
    "sessions": "SELECT count(*) FROM sessions WHERE user_id = :user",
    "spec_shares": """
        SELECT count(*) FROM spec_shares WHERE document_id IN (SELECT id FROM spec_documents WHERE user_id = :user)""",
}


def bookmark(world: World, who: Account) -> None:
    bookmarks.add(world.uow, who, named(world), world.policy, now=NOW)


def named(world: World) -> Repository:
    return world.wanted().repository


def session(world: World, who: Account) -> str:
    link = sessions.sign_in_link(world.uow, who.user_id, actor="test", now=NOW)
    secret = sessions.sign_in(world.uow, link, now=NOW)
    assert secret
    return secret


def document(world: World, who: Account) -> Any:
    writing = Writing(world)
    return writing.written(who.user_id, writing.analysed(who.user_id, file_of("a.py", "test_a")))


def shared(world: World, who: Account) -> Any:
    found = document(world, who)
    share_links.make(world.uow, found, who, now=NOW)
    return found


@dataclass(frozen=True)
class Change:
    """make: the thing that is changed; rows: of the table in the new cell, before and after the change."""

    make: Callable[[World, Account], Any]
    act: Act
    table: str
    rows: tuple[int, int]


CHANGES: Mapping[str, Change] = {
    "bookmark": Change(
        lambda *_: None,
        lambda world, scene: bookmarks.add(world.uow, scene.account, named(world), world.policy, now=NOW),
        "bookmarks",
        (0, 1),
    ),
    "unmark": Change(
        bookmark,
        lambda world, scene: bookmarks.remove(world.uow, scene.account, named(world)),
        "bookmarks",
        (1, 0),
    ),
    "sign out": Change(session, lambda world, scene: sessions.sign_out(world.uow, scene.thing), "sessions", (1, 0)),
    "share": Change(
        document,
        lambda world, scene: share_links.make(world.uow, scene.thing, scene.account, now=NOW),
        "spec_shares",
        (0, 1),
    ),
    "withdraw": Change(
        shared,
        lambda world, scene: share_links.withdraw(world.uow, scene.thing, scene.account),
        "spec_shares",
        (1, 0),
    ),
}


def is_over(crossing: Crossing, change: Change, after: int, outcomes: set[bool]) -> bool:
    """Make the change when the move has done so many statements; -> whether the move was over before.

    outcomes: gets whether it was refused.
    """
    scene, outcome, was_over = crossing.play(change.act, after, change.make)
    refused = outcome is False or isinstance(outcome, (Problem, IntegrityError))
    assert refused or not isinstance(outcome, Exception), outcome
    user, (before, changed) = str(scene.user), change.rows
    assert crossing.there.value(COUNT[change.table], user=user) == (before if refused else changed), (after, outcome)
    assert crossing.world.value(COUNT[change.table], user=user) == 0
    assert broken(crossing.world) == broken(crossing.there) == []
    outcomes.add(refused)
    return was_over


@pytest.mark.proof
@pytest.mark.parametrize(("change", "first"), places(CHANGES))
def test_a_change_that_races_with_a_move_comes_before_it_or_is_refused(
    crossing: Crossing, change: str, first: int
) -> None:
    after, outcomes = first, set[bool]()
    while not is_over(crossing, CHANGES[change], after, outcomes):
        after += STRIDE
    assert after > 60
    assert outcomes == {False, True}
