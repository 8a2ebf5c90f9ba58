"""What goes ahead of an account is what it has when it is locked, or the move begins anew."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.cells.copy_contents import Copied
from app.services.cells.send_ahead import send_ahead
from app.store.cells import early_rows, rows, tables
from app.store.cells.early_rows import Bills
from app.store.core.unit_of_work import OvertakenError
from app.store.operations import retention
from tests.conftest import A_FILE, NOW, World


def billed(world: World, user: UUID) -> UUID:
    delivery = world.running(user)
    world.finish(delivery, user, [A_FILE])
    return delivery.job_id


def sent(world: World, user: UUID) -> Bills:
    with world.uow.begin() as tx:
        return early_rows.read_bills(tx, user)


def test_only_bills_that_have_come_since_are_left_for_the_lock(world: World) -> None:
    user, other = world.user(Tier.PRO), world.user(Tier.PRO)
    first, _ = billed(world, user), billed(world, other)
    bills = sent(world, user)
    assert (bills.number, str(first) in bills.rows) == (1, True)
    world.rows("SELECT id FROM usage_events FOR UPDATE")  # a lock changes nothing
    late = billed(world, user)
    with world.uow.begin() as tx:
        taken = early_rows.take_bills(tx, user, bills)
    assert (taken.number, str(late) in taken.rows, str(first) in taken.rows) == (1, True, False)
    assert [row["user_id"] for row in world.rows("SELECT user_id FROM usage_events")] == [other]


def test_a_bill_that_has_changed_since_is_not_left_as_it_was(world: World) -> None:
    user = world.user(Tier.PRO)
    billed(world, user)
    bills = sent(world, user)
    with world.uow.begin() as tx:
        assert retention.expire_history(tx, None, 100, now=NOW + timedelta(days=1000)).rows == 1
    with pytest.raises(OvertakenError), world.uow.begin() as tx:
        early_rows.take_bills(tx, user, bills)
    assert world.value("SELECT count(*) FROM usage_events WHERE forgotten_at IS NOT NULL AND user_id IS NOT NULL") == 1
    with world.uow.begin() as tx:
        assert early_rows.take_bills(tx, user, sent(world, user)).number == 0


def test_the_transaction_that_is_ahead_stays_open_while_the_account_leaves(world: World, there: World) -> None:
    user = world.user()
    with there.uow.begin() as tx:
        send_ahead(world.uow, tx, rows.shapes(tx, tables.ALL), user, Copied())
        waits = tx.run(text("SELECT current_setting('idle_in_transaction_session_timeout')")).scalar_one()
    assert waits == "1min"
