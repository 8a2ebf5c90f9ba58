"""Who is told of a bill, and what is not billed (docs/adr/0033)."""

from __future__ import annotations

from datetime import timedelta

from app.domain.lifecycle import Outcome
from app.services.jobs import read_jobs
from app.services.operations import audit
from app.services.operations.reconcile import reconcile
from tests.conftest import A_FILE, World
from tests.services.busy import account

ALL_BILLS = "SELECT quota_amount FROM usage_events"


def test_only_the_payer_is_told_that_a_job_was_billed(world: World) -> None:
    payer, joiner = world.user(), world.user()
    wanted = world.wanted()
    delivery = world.lease(world.submit(payer, wanted))
    assert world.submit(joiner, wanted) == delivery.job_id
    world.start(delivery, payer)
    assert world.finish(delivery, payer, [A_FILE]) is Outcome.COMPLETED
    told = {
        who: read_jobs.job(world.uow, delivery.job_id, viewer, world.policy, now=world.now).billed
        for who, viewer in (("payer", account(world, payer)), ("joiner", account(world, joiner)), ("stranger", None))
    }
    assert told == {"payer": True, "joiner": False, "stranger": False}
    own = read_jobs.timeline(world.uow, delivery.job_id, account(world, payer))
    others = read_jobs.timeline(world.uow, delivery.job_id, account(world, joiner))
    assert own[-1].facts["billed"] == 1
    assert [event.event for event in others] == [event.event for event in own]
    assert not any("billed" in event.facts for event in others)


def test_a_result_without_a_test_is_billed_to_nobody_and_gives_its_unit_back(world: World) -> None:
    user = world.user(analyses=1)
    delivery = world.running(user)
    assert world.finish(delivery, user, []) is Outcome.COMPLETED
    assert world.rows(ALL_BILLS) == []
    assert world.rows("SELECT 1 FROM quota_reservations") == []
    assert world.submit(user)  # the only unit of the period is free again


def test_the_audit_and_the_reconciliation_agree_that_an_empty_result_costs_nothing(world: World) -> None:
    user = world.user()
    for files in ([], [A_FILE]):
        delivery = world.running(user)
        assert world.finish(delivery, user, files) is Outcome.COMPLETED
    assert len(world.rows(ALL_BILLS)) == 1
    assert not [finding for finding in audit.audit(world.uow) if finding.status != "holds"]
    counted = reconcile(world.uow, now=world.now + timedelta(minutes=1))
    assert (counted.jobs, counted.events, counted.differences) == (1, 1, [])
