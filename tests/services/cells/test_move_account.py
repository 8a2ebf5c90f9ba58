"""An account moves with everything, once, and its jobs run to their ends."""

from __future__ import annotations

import pytest

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.domain.specification import Mode
from app.errors import Conflict, NotFound
from app.services.cells.move_account import AccountBusy, move, settle
from tests.conftest import A_FILE, World
from tests.services.busy import leave
from tests.services.cells.accounts import broken, ended, everything, picture
from tests.services.specifications.writing import Writing, file_of, of_a_model


def test_a_simple_account_moves_and_its_job_runs_there_once(world: World, there: World) -> None:
    user = world.user(Tier.PRO)
    done, going, queued = world.running(user), world.running(user), world.submit(user)
    assert world.finish(done, user, [A_FILE]) is Outcome.COMPLETED
    moved = move(world.uow, there.uow, user, epoch=1)
    assert moved.rows["analysis_requests"] == 3
    assert (broken(world), broken(there)) == ([], [])
    assert world.finish(going, user, [A_FILE]) is Outcome.STALE
    assert there.status(done.job_id) == "completed"
    for job in (going.job_id, queued):
        assert ended(there, user, job) is Outcome.COMPLETED
    assert there.value("SELECT sum(amount) FROM usage_sums") == 3
    assert world.rows("SELECT * FROM usage_events") == []
    assert (broken(world), broken(there)) == ([], [])


def test_each_row_of_an_account_is_there_as_it_was(world: World, there: World) -> None:
    mine = everything(world)
    before = picture(world, mine.user)
    assert [table for table, rows in before.items() if not rows] == ["branch_commits"]
    move(world.uow, there.uow, mine.user, epoch=1)
    after = picture(there, mine.user)
    for table, rows in before.items():
        assert after[table] == rows, table
    assert {table for table, rows in picture(world, mine.user).items() if rows} == set()
    assert (broken(world), broken(there)) == ([], [])


def test_unfinished_jobs_run_to_their_ends_once_and_are_billed_once(world: World, there: World) -> None:
    mine = everything(world)
    billed = world.value("SELECT count(*) FROM usage_events WHERE user_id = :id", id=mine.user)
    bills = world.value("SELECT count(*) FROM usage_events")
    move(world.uow, there.uow, mine.user, epoch=1)
    for delivery in mine.running:
        assert world.finish(delivery, mine.user, [A_FILE]) is Outcome.STALE
    for job in mine.jobs:
        assert ended(there, mine.user, job) is Outcome.COMPLETED
    assert there.value("SELECT count(*) FROM usage_events") == billed + len(mine.jobs)
    assert there.value("SELECT count(DISTINCT job_id) FROM usage_events") == billed + len(mine.jobs)
    assert world.value("SELECT count(*) FROM usage_events") == bills - billed
    assert there.rows("SELECT * FROM quota_reservations UNION ALL SELECT * FROM quota_reservations") == []
    assert (broken(world), broken(there)) == ([], [])


def test_an_account_comes_back_as_it_was(world: World, there: World) -> None:
    mine = everything(world)
    before = picture(world, mine.user)
    move(world.uow, there.uow, mine.user, epoch=1)
    move(there.uow, world.uow, mine.user, epoch=2)
    after = picture(world, mine.user)
    assert {table for table in before if after[table] != before[table]} == set()
    for job in mine.jobs:
        assert ended(world, mine.user, job) is Outcome.COMPLETED
    assert (broken(world), broken(there)) == ([], [])


def test_a_payer_who_comes_later_gets_the_job_that_others_brought(world: World, there: World) -> None:
    payer, asker, wanted = world.user(Tier.PRO), world.user(Tier.PRO), world.wanted()
    delivery = world.running(payer, wanted)
    world.submit(asker, wanted)
    world.finish(delivery, payer)
    move(world.uow, there.uow, asker, epoch=1)
    roles = "SELECT role, user_id FROM analysis_requests WHERE job_id = :id ORDER BY role"
    assert [row["user_id"] for row in there.rows(roles, id=delivery.job_id)] == [asker, None]
    assert there.status(delivery.job_id) == "completed"
    move(world.uow, there.uow, payer, epoch=1)
    assert [row["user_id"] for row in there.rows(roles, id=delivery.job_id)] == [asker, payer]
    assert (broken(world), broken(there)) == ([], [])
    assert world.rows("SELECT * FROM analyses UNION ALL SELECT * FROM analyses") == []


def test_a_job_that_others_wait_for_holds_its_account_until_it_ends(world: World, there: World) -> None:
    payer, asker, wanted = world.user(Tier.PRO), world.user(Tier.PRO), world.wanted()
    delivery = world.running(payer, wanted)
    world.submit(asker, wanted)
    for user in (payer, asker):
        with pytest.raises(AccountBusy) as refused:
            move(world.uow, there.uow, user, epoch=1)
        assert refused.value.extensions == {"waits_for": [str(delivery.job_id)]}
    assert there.rows("SELECT id FROM users") == there.rows("SELECT account_id FROM arrivals") == []
    leave(world, delivery.job_id, asker)
    move(world.uow, there.uow, asker, epoch=1)
    move(world.uow, there.uow, payer, epoch=1)
    assert ended(there, payer, delivery.job_id) is Outcome.COMPLETED
    assert (broken(world), broken(there)) == ([], [])


def test_an_epoch_is_used_once_and_an_account_that_is_not_there_is_not_found(world: World, there: World) -> None:
    user = world.user()
    assert settle(world.uow, there.uow, user, epoch=1) is False
    with pytest.raises(Conflict):
        move(world.uow, there.uow, user, epoch=1)
    move(world.uow, there.uow, user, epoch=2)
    assert settle(world.uow, there.uow, user, epoch=2) is True
    with pytest.raises(NotFound):
        move(world.uow, there.uow, user, epoch=3)


def test_sentences_that_were_paid_for_are_not_paid_for_again(world: World, there: World) -> None:
    writing = Writing(of_a_model(world))
    user = world.user(Tier.PRO)
    analysis = writing.analysed(user, file_of("test_a.py", "test_one", "test_two"))
    writing.written(user, analysis)
    assert writing.cost(user, analysis, Mode.REGENERATE_CACHED) == 0
    move(world.uow, there.uow, user, epoch=1)
    assert Writing(of_a_model(there)).cost(user, analysis, Mode.REGENERATE_CACHED) == 0
    assert (broken(world), broken(there)) == ([], [])


@pytest.mark.parametrize("is_private", [False, True])
def test_paid_sentences_are_found_where_the_repository_has_another_id(
    world: World, there: World, *, is_private: bool
) -> None:
    writing, wanted = Writing(of_a_model(world)), world.wanted()
    user = world.user(Tier.PRO)
    there.finish(there.running(other := there.user(Tier.PRO), wanted), other, [A_FILE])
    analysis = writing.analysed(user, file_of("test_a.py", "test_one", "test_two"), wanted=wanted)
    for cell in (world, there):
        cell.rows("UPDATE codebases SET is_private = :is_private RETURNING id", is_private=is_private)
    writing.written(user, analysis)
    sentences = "SELECT words FROM spec_words ORDER BY words"
    written = world.rows(sentences)
    move(world.uow, there.uow, user, epoch=1)
    assert there.value("SELECT id FROM codebases") != world.value("SELECT id FROM codebases")
    assert Writing(of_a_model(there)).cost(user, analysis, Mode.REGENERATE_CACHED) == 0
    assert there.rows(sentences) == written
    move(there.uow, world.uow, user, epoch=2)
    assert writing.cost(user, analysis, Mode.REGENERATE_CACHED) == 0
    assert (broken(world), broken(there)) == ([], [])


def test_a_commit_that_both_cells_have_analysed_keeps_both_results(world: World, there: World) -> None:
    wanted = world.wanted()
    for cell in (world, there):
        user = cell.user(Tier.PRO)
        cell.finish(cell.running(user, wanted), user, [A_FILE])
    [mine] = world.rows("SELECT id FROM analyses")
    [theirs] = there.rows("SELECT id FROM analyses")
    mover = world.value("SELECT user_id FROM analysis_requests")
    move(world.uow, there.uow, mover, epoch=1)
    assert there.status(mine["id"]) == there.status(theirs["id"]) == "completed"
    again = there.submit(there.user(Tier.PRO), wanted)
    assert again == theirs["id"]
    assert there.rows("SELECT id FROM analyses WHERE duplicate_of IS NOT NULL") == [mine]
    assert (broken(world), broken(there)) == ([], [])


def test_a_result_that_comes_while_the_same_commit_is_analysed_is_no_obstacle(world: World, there: World) -> None:
    wanted = world.wanted()
    mover, other = world.user(Tier.PRO), there.user(Tier.PRO)
    world.finish(world.running(mover, wanted), mover, [A_FILE])
    running = there.running(other, wanted)
    move(world.uow, there.uow, mover, epoch=1)
    assert there.finish(running, other, [A_FILE]) is Outcome.COMPLETED
    assert there.value("SELECT count(*) FROM usage_events") == 2
    assert (broken(world), broken(there)) == ([], [])
