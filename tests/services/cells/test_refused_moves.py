"""A move that was refused leaves nothing in the cell to which the account did not come."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.cells import move_account
from app.services.cells.copy_contents import copy_contents
from app.services.cells.move_account import AccountBusy, move, settle
from app.store.cells import contents, histories, rows, tables
from app.store.operations import retention
from tests.conftest import A_FILE, World
from tests.services.busy import leave
from tests.services.cells.accounts import broken, die_moving, everything, left_of


def jobs_of(world: World, user: UUID) -> list[UUID]:
    found = world.rows("SELECT job_id FROM analysis_requests WHERE user_id = :user ORDER BY id", user=user)
    return [UUID(str(row["job_id"])) for row in found]


def refused(world: World, there: World, user: UUID) -> None:
    """Move while the other cell works on the same commit, which it finds in the last step."""
    wanted = world.wanted("shared-commit")
    world.submit(user, wanted)
    theirs = there.running(other := there.user(Tier.PRO), wanted)
    with pytest.raises(AccountBusy):
        move(world.uow, there.uow, user, epoch=1)
    assert there.finish(theirs, other, [A_FILE]) is Outcome.COMPLETED


def numbers(world: World, jobs: Iterable[UUID]) -> list[object]:
    told = "SELECT event FROM job_events WHERE job_id = ANY (:jobs) AND facts ?| '{quota,request_id,traceparent}'"
    return [row["event"] for row in world.rows(told, jobs=[*jobs])]


def test_what_was_copied_for_a_move_that_was_refused_is_deleted(world: World, there: World) -> None:
    mine = everything(world)
    jobs = jobs_of(world, mine.user)
    refused(world, there, mine.user)
    assert left_of(there, jobs) == []
    assert (broken(world), broken(there)) == ([], [])


def test_what_somebody_asked_for_meanwhile_stays_without_a_word_about_the_account(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted, user = world.wanted("garden"), world.user(Tier.PRO)
    done = world.running(user, wanted)
    assert world.finish(done, user, [A_FILE]) is Outcome.COMPLETED
    assert numbers(world, [done.job_id])
    asker = there.user(Tier.PRO)
    with monkeypatch.context() as patch:
        patch.setattr("app.services.cells.move_account.send_ahead", lambda *_: there.submit(asker, wanted))
        patch.setattr("app.services.cells.move_account._leave", busy)
        with pytest.raises(AccountBusy):
            move(world.uow, there.uow, user, epoch=1)
    assert there.status(done.job_id) == "completed"
    assert jobs_of(there, asker) == [done.job_id]
    assert numbers(there, [done.job_id]) == []
    leave_history = "UPDATE analysis_requests SET role = 'left' WHERE user_id = :user RETURNING id"
    assert there.rows(leave_history, user=asker)
    assert there.rows("SELECT retention_days FROM analysis_requests WHERE user_id IS NULL") == [{"retention_days": 0}]


def busy(*_: object) -> None:
    raise AccountBusy("later", [])


def test_copies_that_no_account_and_nobody_follows_expire_within_days(world: World, there: World) -> None:
    """However long ago their jobs were asked for, they are kept until the account may have come."""
    user = world.user(Tier.PRO)
    done, old = world.running(user), world.running(user)
    for delivery in (done, old):
        assert world.finish(delivery, user, [A_FILE]) is Outcome.COMPLETED
    before = (
        "UPDATE analysis_requests SET requested_at = requested_at - interval '999 days' WHERE job_id = :id RETURNING 1"
    )
    assert world.rows(before, id=old.job_id)
    with world.uow.begin() as tx:
        shape = rows.shapes(tx, tables.ALL)
    copy_contents(world.uow, there.uow, shape, user, set())
    now = there.uow.now()
    for days, kept in ((1, 2), (3, 0)):
        with there.uow.begin() as tx:
            retention.drop_jobs(tx, None, 100, days=365, now=now + timedelta(days=days))
        assert there.value("SELECT count(*) FROM analyses") == kept
    assert left_of(there, [done.job_id, old.job_id]) == []


def test_a_job_that_the_account_had_left_brings_no_events(world: World, there: World) -> None:
    payer, user, wanted = world.user(Tier.PRO), world.user(Tier.PRO), world.wanted()
    going = world.running(payer, wanted)
    world.submit(user, wanted)
    leave(world, going.job_id, user)
    move(world.uow, there.uow, user, epoch=1)
    assert left_of(there, [going.job_id]) == []
    assert world.finish(going, payer, [A_FILE]) is Outcome.COMPLETED


def test_a_job_that_leaves_the_history_while_it_is_copied_leaves_the_target(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its specification is deleted, or it expires, and the move begins anew without it."""
    user = world.user(Tier.PRO)
    dropped, kept = world.running(user), world.running(user)
    for delivery in (dropped, kept):
        assert world.finish(delivery, user, [A_FILE]) is Outcome.COMPLETED
    copy, rounds = move_account.copy_contents, list[int]()

    def copy_and_drop(*given: Any) -> Any:
        copied = copy(*given)
        if not rounds:
            with world.uow.begin() as tx:
                retention.drop_jobs_now(tx, [dropped.job_id], now=world.uow.now())
        rounds.append(1)
        return copied

    monkeypatch.setattr(move_account, "copy_contents", copy_and_drop)
    move(world.uow, there.uow, user, epoch=1)
    assert left_of(world, [dropped.job_id]) == left_of(there, [dropped.job_id]) == []
    assert there.status(kept.job_id) == "completed"


@pytest.mark.parametrize("ends", ["before", "after"])
def test_a_job_that_leaves_the_history_after_its_mover_died_leaves_the_target(
    world: World, there: World, ends: str
) -> None:
    """Who settles the move does not know of it: what was copied of it expires with its accept record."""
    user = world.user(Tier.PRO)
    going = world.running(user)
    if ends == "before":
        assert world.finish(going, user, [A_FILE]) is Outcome.COMPLETED

    die_moving(world, there, user)
    if ends == "after":
        assert world.finish(going, user, [A_FILE]) is Outcome.COMPLETED
    with world.uow.begin() as tx:
        retention.drop_jobs_now(tx, [going.job_id], now=world.uow.now())
    assert not settle(world.uow, there.uow, user, epoch=1)
    with there.uow.begin() as tx:
        retention.drop_jobs(tx, None, 100, days=365, now=there.uow.now() + timedelta(days=3))
    assert left_of(there, [going.job_id]) == []


@pytest.mark.parametrize("table", ["analyses", "analysis_requests"])
def test_events_are_not_copied_before_what_they_expire_with(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch, table: str
) -> None:
    user = world.user(Tier.PRO)
    done = world.running(user)
    assert world.finish(done, user, [A_FILE]) is Outcome.COMPLETED
    put = rows.put

    def die(tx: Any, shape: Any, into: str, *given: Any, **more: Any) -> None:
        if into == table:
            raise RuntimeError
        put(tx, shape, into, *given, **more)

    for module in (contents, histories):
        monkeypatch.setattr(module, "put", die)
    with pytest.raises(RuntimeError):
        move(world.uow, there.uow, user, epoch=1)
    assert left_of(there, [done.job_id]) == []
