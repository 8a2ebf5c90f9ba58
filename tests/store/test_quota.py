"""What is held and what was billed, row by row."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
from sqlalchemy.exc import IntegrityError

from app.domain.periods import Period
from app.domain.plans import EventType
from app.store.core.unit_of_work import Tx
from app.store.jobs import events, quota
from tests.conftest import NOW, World

DAY, TICK = timedelta(days=1), timedelta(microseconds=1)
PERIOD = Period(NOW, NOW + 30 * DAY)


def reserve(tx: Tx, user_id: UUID, *, amount: int = 1, event: EventType = EventType.ANALYSIS, after: timedelta) -> UUID:
    job_id = uuid4()
    quota.reserve(tx, job_id, user_id=user_id, event_type=event, amount=amount, now=NOW + after, ttl=timedelta(hours=1))
    return job_id


def used(tx: Tx, user_id: UUID, event: EventType = EventType.ANALYSIS) -> tuple[int, int]:
    usage = quota.usage(tx, user_id, event, PERIOD, 50)
    return usage.used, usage.reserved


def test_a_period_counts_what_was_accepted_in_it_from_its_first_instant_to_before_its_last(world: World) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        for after in (-TICK, timedelta(0), DAY, 30 * DAY - TICK, 30 * DAY):
            job_id = reserve(tx, user, after=after)
            quota.settle(tx, job_id, resource_id=job_id, now=NOW + 99 * DAY)
        assert used(tx, user) == (3, 0)


def test_reservations_count_whenever_they_were_made(world: World) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        for after in (-40 * DAY, timedelta(0), 40 * DAY):
            reserve(tx, user, amount=2, after=after)
        assert used(tx, user) == (0, 6)


def test_users_and_event_types_are_counted_apart(world: World) -> None:
    one, other = world.user(), world.user()
    with world.uow.begin() as tx:
        reserve(tx, one, amount=1, after=DAY)
        reserve(tx, one, amount=10, event=EventType.SPECVIEW, after=DAY)
        reserve(tx, other, amount=100, after=DAY)
        assert used(tx, one) == (0, 1)
        assert used(tx, one, EventType.SPECVIEW) == (0, 10)
        assert used(tx, other) == (0, 100)


def test_settling_bills_what_was_reserved_once(world: World) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        job_id = reserve(tx, user, amount=7, after=DAY)
        assert not quota.billed_of(tx, [job_id], user)
        for _ in range(2):
            quota.settle(tx, job_id, resource_id=job_id, now=NOW + 2 * DAY)
        assert quota.release(tx, job_id) == 0
        assert quota.billed_of(tx, [job_id], user)
        assert used(tx, user) == (7, 0)


@pytest.mark.parametrize(("cost", "billed"), [(None, 7), (7, 7), (3, 3), (0, 0), (9, 7)])
def test_a_job_is_billed_what_it_cost_and_never_more_than_it_reserved(
    world: World, cost: int | None, billed: int
) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        job_id = reserve(tx, user, amount=7, after=0 * DAY)
    with world.uow.begin() as tx:
        quota.settle(tx, job_id, resource_id=job_id, cost=cost, now=NOW)
        events.completed(tx, job_id, tests=1)
    assert world.value("SELECT coalesce(sum(quota_amount), 0) FROM usage_events") == billed
    assert world.value("SELECT facts FROM job_events") == {"tests": 1, "billed": billed}
    assert world.value("SELECT count(*) FROM quota_reservations") == 0


def test_a_released_reservation_is_gone_and_cannot_be_billed(world: World) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        job_id = reserve(tx, user, amount=7, after=DAY)
        assert quota.release(tx, job_id) == 7
        assert quota.release(tx, job_id) == 0
        quota.settle(tx, job_id, resource_id=job_id, now=NOW)
        assert not quota.billed_of(tx, [job_id], user)
        assert used(tx, user) == (0, 0)


@pytest.mark.parametrize("amount", [0, -1])
def test_the_database_holds_no_reservation_of_nothing(world: World, amount: int) -> None:
    user = world.user()
    with pytest.raises(IntegrityError, match="quota_reservations_reserved_amount_check"), world.uow.begin() as tx:
        reserve(tx, user, amount=amount, after=DAY)


def test_billing_outlives_the_account(world: World) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        job_id = reserve(tx, user, after=DAY)
        quota.settle(tx, job_id, resource_id=job_id, now=NOW)
        reserve(tx, user, after=DAY)
    world.rows("DELETE FROM users WHERE id = :id RETURNING id", id=user)
    assert world.rows("SELECT user_id, job_id FROM usage_events") == [{"user_id": None, "job_id": job_id}]
    assert world.value("SELECT count(*) FROM quota_reservations") == 0


def test_reservations_are_listed_oldest_first(world: World) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        jobs = [reserve(tx, user, after=after) for after in (2 * DAY, timedelta(0), DAY)]
        assert [held.job_id for held in quota.reservations_of(tx, user)] == [jobs[1], jobs[2], jobs[0]]
