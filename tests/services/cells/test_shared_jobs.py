"""What several accounts have of one job comes with each of them, in whatever order they move."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import OperationalError

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import Tier
from app.services.analyses.submit import submit
from app.services.analyses.submit_batch import BatchOutcomes, submit_batch
from app.services.cells.move_account import move
from app.services.jobs.answers import Answer, Key
from app.store.accounts import personal_data
from app.store.cells import histories
from app.store.jobs.idempotency import Rendered
from tests.conftest import A_FILE, NOW, World, keyed
from tests.services.busy import leave
from tests.services.cells.accounts import broken, ended

ACCEPTS = "SELECT facts FROM job_events WHERE job_id = :id AND event IN ('accepted', 'payer_came_back') ORDER BY id"


def shared(world: World, payer: UUID, asker: UUID) -> Delivery:
    """A job that runs for both."""
    wanted = world.wanted()
    delivery = world.running(payer, wanted)
    world.submit(asker, wanted)
    return delivery


def test_a_payer_who_comes_after_an_asker_brings_what_was_reserved(world: World, there: World) -> None:
    payer, asker = world.user(Tier.PRO), world.user(Tier.PRO)
    first, delivery = world.running(payer), shared(world, payer, asker)
    last = world.running(payer)
    for one in (first, delivery, last):
        assert world.finish(one, payer, [A_FILE]) is Outcome.COMPLETED
    before = world.rows(ACCEPTS, id=delivery.job_id)
    move(world.uow, there.uow, asker, epoch=1)
    assert "quota" not in there.value(ACCEPTS, id=delivery.job_id)
    assert (broken(world), broken(there)) == ([], [])
    move(world.uow, there.uow, payer, epoch=1)
    assert there.rows(ACCEPTS, id=delivery.job_id) == before
    assert (broken(world), broken(there)) == ([], [])


def test_a_payer_who_returns_to_a_job_that_others_have_kept_brings_it_back(world: World, there: World) -> None:
    payer, asker = world.user(Tier.PRO), world.user(Tier.PRO)
    first, delivery = world.running(payer), shared(world, payer, asker)
    for one in (first, delivery):
        world.finish(one, payer, [A_FILE])
    before = world.rows(ACCEPTS, id=delivery.job_id)
    move(world.uow, there.uow, payer, epoch=1)
    assert "quota" not in world.value(ACCEPTS, id=delivery.job_id)
    move(there.uow, world.uow, payer, epoch=2)
    assert world.rows(ACCEPTS, id=delivery.job_id) == before
    assert (broken(world), broken(there)) == ([], [])


def test_a_payer_who_came_back_and_moves_after_an_asker_overlooked_nothing(world: World, there: World) -> None:
    payer, asker = world.user(Tier.PRO), world.user(Tier.PRO)
    wanted = world.wanted()
    delivery = world.running(payer, wanted)
    world.submit(asker, wanted)
    leave(world, delivery.job_id, payer)
    later = [replace(world, now=NOW + timedelta(minutes=minutes)) for minutes in (1, 2, 3)]
    between = later[0].running(payer)
    later[1].submit(payer, wanted)
    assert len(world.rows(ACCEPTS, id=delivery.job_id)) == 2
    for one in (delivery, between, later[2].running(payer)):
        assert world.finish(one, payer, [A_FILE]) is Outcome.COMPLETED
    for epoch, user in enumerate((asker, payer), start=1):
        move(world.uow, there.uow, user, epoch=epoch)
    assert (broken(world), broken(there)) == ([], [])


def clear(world: World, job_id: UUID) -> None:
    """Take away what only a payer may know, without waiting for one who arrives."""
    with world.uow.begin() as tx:
        tx.write(text("SET LOCAL lock_timeout = '50ms'"))
        personal_data.leave_numbers(tx, [job_id])


def test_what_a_payer_brings_is_not_taken_away_while_the_payer_arrives(world: World) -> None:
    payer = world.user(Tier.PRO)
    delivery = world.running(payer)
    world.finish(delivery, payer, [A_FILE])
    [record] = world.rows("UPDATE analysis_requests SET user_id = NULL RETURNING id")
    with world.uow.begin() as arriving:
        histories.give(arriving, payer, {int(str(record["id"])): None})
        with pytest.raises(OperationalError, match="lock timeout"):
            clear(world, delivery.job_id)
    clear(world, delivery.job_id)
    assert "quota" in world.value(ACCEPTS, id=delivery.job_id)


@pytest.mark.parametrize("ends_first", [False, True])
def test_who_had_left_a_job_takes_nothing_from_its_payer(world: World, there: World, *, ends_first: bool) -> None:
    payer, asker = world.user(Tier.PRO), world.user(Tier.PRO)
    delivery = shared(world, payer, asker)
    leave(world, delivery.job_id, asker)
    move(world.uow, there.uow, asker, epoch=1)
    assert there.rows("SELECT job_id FROM job_events") == []
    if ends_first:
        assert world.finish(delivery, payer, [A_FILE]) is Outcome.COMPLETED
    move(world.uow, there.uow, payer, epoch=1)
    assert ends_first or ended(there, payer, delivery.job_id) is Outcome.COMPLETED
    assert (broken(world), broken(there)) == ([], [])


def items(outcomes: BatchOutcomes) -> Rendered:
    """The answer to a batch, as the web keeps it."""
    return 202, {"items": [{"job": {"id": str(one.job.id)}} for one in outcomes if isinstance(one, Answer)]}


def with_keys(world: World, payer: UUID, asker: UUID) -> Delivery:
    """A job that the asker has joined twice, with a key each time, and has left; a third key is of another job."""
    wanted = world.wanted()
    delivery = world.running(payer, wanted)
    submit(world.uow, asker, wanted, world.policy, key=keyed("one", b"f" * 32), now=NOW)
    many = Key("many", b"f" * 32, items)
    submit_batch(world.uow, asker, [wanted, world.wanted()], world.policy, atomic=True, key=many, now=NOW)
    submit(world.uow, asker, world.wanted(), world.policy, key=keyed("kept", b"f" * 32), now=NOW)
    leave(world, delivery.job_id, asker)
    return delivery


KEYS = "SELECT key FROM idempotency_keys ORDER BY key"


def test_a_key_of_a_job_that_was_left_does_not_come_without_it(world: World, there: World) -> None:
    payer, asker = world.user(Tier.PRO), world.user(Tier.PRO)
    delivery = with_keys(world, payer, asker)
    assert [row["key"] for row in world.rows(KEYS)] == ["kept", "many", "one"]
    move(world.uow, there.uow, asker, epoch=1)
    assert [row["key"] for row in there.rows(KEYS)] == ["kept"]
    assert world.finish(delivery, payer, [A_FILE]) is Outcome.COMPLETED
    assert (broken(world), broken(there)) == ([], [])


def test_a_key_of_a_job_that_was_left_goes_when_the_job_moves_with_its_payer(world: World, there: World) -> None:
    payer, asker = world.user(Tier.PRO), world.user(Tier.PRO)
    delivery = with_keys(world, payer, asker)
    move(world.uow, there.uow, payer, epoch=1)
    assert [row["key"] for row in world.rows(KEYS)] == ["kept"]
    assert ended(there, payer, delivery.job_id) is Outcome.COMPLETED
    assert (broken(world), broken(there)) == ([], [])
