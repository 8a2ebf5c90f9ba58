"""The bills of a month that is over can be read as one moment saw them (docs/adr/0094)."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from uuid import UUID, uuid4

import pytest

from app.errors import Conflict
from app.services.operations.export_bills import export_bills
from app.store.operations.bills import BillRow
from tests.conftest import World

MONTH, NEXT, NOW = (datetime(2025, month, 1, tzinfo=UTC) for month in (10, 11, 12))
ADD = """
    INSERT INTO usage_events (user_id, event_type, quota_amount, job_id, resource_id, accepted_at, created_at)
    VALUES (:user, 'analysis', :units, gen_random_uuid(), gen_random_uuid(), :at, :at) RETURNING job_id"""
HOLD = """
    INSERT INTO quota_reservations (user_id, event_type, reserved_amount, job_id, accepted_at, expires_at)
    VALUES (:user, 'analysis', 1, :job, :at, :at) RETURNING id"""
CLOSE = """
    UPDATE usage_events SET user_id = NULL, job_id = gen_random_uuid(), accepted_at = date_trunc('day', accepted_at)
    RETURNING id"""


def add(world: World, user: UUID, at: datetime, units: int = 1) -> UUID:
    return UUID(str(world.value(ADD, user=user, at=at, units=units)))


def read(world: World, now: datetime = NOW) -> list[BillRow]:
    return [row for rows in export_bills(world.uow, MONTH, now=now) for row in rows]


def test_a_month_has_the_bills_of_jobs_that_were_accepted_in_it_in_their_order(world: World) -> None:
    user, moment = world.user(), timedelta(microseconds=1)
    add(world, user, MONTH - moment)
    last = add(world, user, NEXT - moment, units=7)
    first = add(world, user, MONTH)
    add(world, user, NEXT)
    found = read(world)
    assert [(row.job_id, row.quota_amount, row.user_id) for row in found] == [(first, 1, user), (last, 7, user)]


def test_a_month_that_is_not_over_or_has_unfinished_jobs_is_refused(world: World) -> None:
    user = world.user()
    add(world, user, MONTH)
    with pytest.raises(Conflict, match="ends at 2025-11-01"):
        read(world, NEXT - timedelta(microseconds=1))
    assert len(read(world, NEXT)) == 1
    world.rows(HOLD, user=user, job=uuid4(), at=NEXT)
    assert len(read(world)) == 1
    world.rows(HOLD, user=user, job=uuid4(), at=MONTH)
    with pytest.raises(Conflict, match="1 jobs that were accepted before 2025-11-01"):
        read(world)


def test_an_account_that_is_deleted_meanwhile_moves_no_bill_out_of_the_file(world: World) -> None:
    """Its bills go to the beginning of their day, which has been read by then."""
    user = world.user()
    first, second = (add(world, user, MONTH + timedelta(hours=hour)) for hour in (1, 20))
    hours = export_bills(world.uow, MONTH, now=NOW)
    found = next(hours)
    world.rows(CLOSE)
    found += [row for rows in hours for row in rows]
    assert [row.job_id for row in found] == [first, second]
    assert {row.user_id for row in read(world)} == {None}
