"""What was copied for several accounts, or is needed by a specification, outlives a move that is refused."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import Tier
from app.errors import Conflict
from app.services.cells import move_account
from app.services.cells.copy_contents import copy_contents
from app.services.cells.move_account import move, settle
from app.services.cells.settle import drop_copies
from app.store.cells import contents, rows, tables
from app.store.core.unit_of_work import OvertakenError
from app.store.operations import retention
from tests.conftest import A_FILE, World
from tests.services.cells.accounts import broken, die_moving, left_of
from tests.services.cells.test_refused_moves import busy, jobs_of, refused
from tests.services.specifications.writing import Writing, file_of, of_a_model

DAYS = "SELECT retention_days FROM analysis_requests WHERE job_id = :id AND role = 'payer'"


def shared(world: World, payer: UUID, asker: UUID) -> UUID:
    """A job that both have, and that has ended."""
    wanted = world.wanted()
    delivery = world.running(payer, wanted)
    world.submit(asker, wanted)
    assert world.finish(delivery, payer, [A_FILE]) is Outcome.COMPLETED
    return delivery.job_id


def once_before(monkeypatch: pytest.MonkeyPatch, step: str, do: Callable[[], object]) -> None:
    """Do something when a move is about to take a step for the first time; it moves itself, too."""
    take, done = getattr(move_account, step), list[object]()

    def first(*given: Any) -> Any:
        if not done:
            done.append(step)
            do()
        return take(*given)

    monkeypatch.setattr(move_account, step, first)


COLUMNS = ["analysis_requests", "job_events", "analyses", "analysis_file_lists"]
QUOTAS = "SELECT job_id FROM job_events WHERE job_id = ANY (:jobs) AND facts ? 'quota'"


def test_what_another_mover_has_copied_too_arrives_with_it(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other move is refused when this one has copied everything."""
    first, second = world.user(Tier.PRO), world.user(Tier.PRO)
    job = shared(world, second, first)
    once_before(monkeypatch, "send_ahead", lambda: refused(world, there, second))
    move(world.uow, there.uow, first, epoch=1)
    assert jobs_of(there, first) == [job]
    assert left_of(there, [job]) == COLUMNS
    assert there.rows(QUOTAS, jobs=[job]) == []
    assert (broken(world), broken(there)) == ([], [])


def test_a_dead_move_is_settled_while_another_one_has_the_same_jobs_in_its_transaction(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for nothing, and takes nothing away that the other account brings."""
    first, second = world.user(Tier.PRO), world.user(Tier.PRO)
    jobs = [shared(world, second, first), shared(world, first, second)]
    with world.uow.begin() as tx:
        shape = rows.shapes(tx, tables.ALL)
    copy_contents(world.uow, there.uow, shape, second, set())
    settled = list[bool]()
    once_before(monkeypatch, "_leave", lambda: settled.append(settle(world.uow, there.uow, second, epoch=1)))
    move(world.uow, there.uow, first, epoch=1)
    assert settled == [False]
    assert jobs_of(there, first) == jobs
    for job in jobs:
        assert left_of(there, [job]) == COLUMNS
    assert [row["job_id"] for row in there.rows(QUOTAS, jobs=jobs)] == [jobs[1]]
    assert (broken(world), broken(there)) == ([], [])


def test_what_another_mover_drops_in_the_last_step_is_brought_again(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A result for which the account has asked late is in the other cell already, for another account."""
    first, second, wanted = world.user(Tier.PRO), world.user(Tier.PRO), world.wanted()
    done = world.running(second, wanted)
    assert world.finish(done, second, [A_FILE]) is Outcome.COMPLETED
    with world.uow.begin() as tx:
        shape = rows.shapes(tx, tables.ALL)
    copy_contents(world.uow, there.uow, shape, second, set())

    def ask() -> None:
        assert world.submit(first, wanted) == done.job_id
        monkeypatch.setattr(contents, "put_records", drop_after)

    put_records, dropped = contents.put_records, list[UUID]()

    def drop_after(*given: Any) -> None:
        put_records(*given)
        if not dropped:
            dropped.append(done.job_id)
            drop_copies(world.uow, there.uow, dropped)

    once_before(monkeypatch, "send_ahead", ask)
    move(world.uow, there.uow, first, epoch=1)
    assert dropped
    assert jobs_of(there, first) == [done.job_id]
    assert left_of(there, [done.job_id]) == COLUMNS
    assert (broken(world), broken(there)) == ([], [])


def test_a_job_that_comes_and_goes_while_the_account_is_about_to_be_locked_leaves_nothing(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its timeline went ahead, and it was not there yet when the others were copied."""
    user, late = world.user(Tier.PRO), list[Delivery]()

    def drop() -> None:
        assert world.finish(late[0], user, [A_FILE]) is Outcome.COMPLETED
        with world.uow.begin() as tx:
            retention.drop_jobs_now(tx, [late[0].job_id], now=world.uow.now())

    once_before(monkeypatch, "send_ahead", lambda: late.append(world.running(user)))
    once_before(monkeypatch, "_leave", drop)
    move(world.uow, there.uow, user, epoch=1)
    assert left_of(there, [late[0].job_id]) == []
    assert (broken(world), broken(there)) == ([], [])


def of_another(world: World, there: World) -> tuple[UUID, UUID, UUID]:
    """A specification that waits in the other cell; -> whose it is, the payer of its analysis, and the analysis."""
    payer, user = world.user(Tier.PRO), world.user(Tier.PRO)
    writing = Writing(of_a_model(world))
    analysis = writing.analysed(payer, file_of("test_a.py", "test_one"))
    assert world.rows("UPDATE analysis_requests SET retention_days = 30 WHERE job_id = :id RETURNING id", id=analysis)
    job_id = writing.submit(user, analysis)
    move(world.uow, there.uow, user, epoch=1)
    assert there.value("SELECT job_id FROM spec_requests WHERE user_id = :user", user=user) == job_id
    return user, payer, analysis


def check_written(there: World, user: UUID) -> None:
    """Somebody else has asked for the analysis, and keeps it for 30 days."""
    writing = Writing(of_a_model(there))
    [row] = there.rows("SELECT job_id, analysis_id FROM spec_requests WHERE user_id = :user", user=user)
    assert there.rows(DAYS, id=row["analysis_id"]) == [{"retention_days": 30}]
    with there.uow.begin() as tx:
        retention.drop_jobs(tx, None, 100, days=365, now=there.uow.now() + timedelta(days=5))
    job_id = UUID(str(row["job_id"]))
    assert writing.write(writing.started(user, job_id), user) is Outcome.COMPLETED


def test_a_specification_keeps_the_analysis_for_as_long_as_its_payer_does(world: World, there: World) -> None:
    user, _, _ = of_another(world, there)
    check_written(there, user)


def test_a_specification_keeps_the_analysis_of_an_account_that_did_not_come(world: World, there: World) -> None:
    user, payer, analysis = of_another(world, there)
    refused(world, there, payer)
    assert there.rows("SELECT id FROM job_events WHERE job_id = :id AND facts ? 'quota'", id=analysis) == []
    check_written(there, user)


def test_a_specification_keeps_the_analysis_of_an_account_whose_mover_died(world: World, there: World) -> None:
    user, payer, _ = of_another(world, there)
    die_moving(world, there, payer)
    assert not settle(world.uow, there.uow, payer, epoch=1)
    check_written(there, user)


SCHEDULED = """
    UPDATE analysis_requests SET user_id = NULL, trigger = 'scheduled', retention_days = NULL
     WHERE job_id = :id RETURNING id"""


def test_a_result_of_the_schedule_stays_for_others_when_who_has_specified_it_moves(world: World, there: World) -> None:
    user, writing = world.user(Tier.PRO), Writing(of_a_model(world))
    analysis = writing.analysed(world.user(Tier.PRO), file_of("test_a.py", "test_one"))
    assert world.rows(SCHEDULED, id=analysis)
    writing.submit(user, analysis)
    move(world.uow, there.uow, user, epoch=1)
    assert [cell.status(analysis) for cell in (world, there)] == ["completed"] * 2
    assert there.rows(DAYS, id=analysis) == [{"retention_days": None}]


def test_a_result_of_the_schedule_stays_when_an_account_that_has_it_does_not_come(world: World, there: World) -> None:
    user, wanted = world.user(Tier.PRO), world.wanted()
    done = world.running(user, wanted)
    assert world.finish(done, user, [A_FILE]) is Outcome.COMPLETED
    move(world.uow, there.uow, user, epoch=1)
    assert there.rows(SCHEDULED, id=done.job_id)
    drop_copies(world.uow, there.uow, [done.job_id])
    assert there.status(done.job_id) == "completed"
    assert there.rows(DAYS, id=done.job_id) == [{"retention_days": None}]


def test_a_move_that_is_overtaken_again_and_again_is_refused_and_leaves_nothing(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = world.user(Tier.PRO)
    done, turns = world.running(user), list[int]()
    assert world.finish(done, user, [A_FILE]) is Outcome.COMPLETED

    def overtaken(*_: object) -> None:
        turns.append(1)
        assert left_of(there, [done.job_id])
        if len(turns) > 50:
            busy()
        raise OvertakenError

    monkeypatch.setattr(move_account, "send_ahead", overtaken)
    with pytest.raises(Conflict, match="again"):
        move(world.uow, there.uow, user, epoch=1)
    assert len(turns) == move_account.TURNS
    assert left_of(there, [done.job_id]) == []


def test_a_move_that_is_overtaken_a_few_times_is_made(
    world: World, there: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    user = world.user(Tier.PRO)
    ahead, turns = move_account.send_ahead, list[int]()

    def often(*given: Any) -> Any:
        turns.append(1)
        if len(turns) < move_account.TURNS:
            raise OvertakenError
        return ahead(*given)

    monkeypatch.setattr(move_account, "send_ahead", often)
    move(world.uow, there.uow, user, epoch=1)
    assert there.rows("SELECT id FROM users WHERE id = :id", id=user)
