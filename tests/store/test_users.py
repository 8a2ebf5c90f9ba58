"""Users and the plan their subscription gives them."""

from datetime import timedelta
from uuid import uuid4

from sqlalchemy import text

from app.domain.periods import Period
from app.domain.plans import Tier
from app.store.accounts import users
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import NOW, World

DAY = timedelta(days=1)


def test_without_a_subscription_a_user_is_free_and_periods_start_at_birth(uow: UnitOfWork) -> None:
    user_id = uuid4()
    with uow.begin() as tx:
        assert users.add(tx, user_id, email="a@example.org", now=NOW - 3 * DAY)
        account = users.find(tx, user_id)
    assert account is not None
    assert (account.tier, account.anchor_at) == (Tier.FREE, NOW - 3 * DAY)
    assert account.period(NOW) == Period(NOW - 3 * DAY, NOW + 27 * DAY)


def test_a_new_tier_keeps_the_anchor_of_the_periods(world: World) -> None:
    user_id = world.user(Tier.PRO)
    with world.uow.begin() as tx:
        users.set_tier(tx, user_id, Tier.ENTERPRISE, now=NOW + DAY)
        account = users.find(tx, user_id)
    assert account is not None
    assert (account.tier, account.anchor_at) == (Tier.ENTERPRISE, NOW)
    assert world.value("SELECT count(*) FROM user_subscriptions") == 1


def test_an_ended_subscription_is_none_and_a_new_one_has_its_own_anchor(world: World) -> None:
    user_id = world.user(Tier.PRO)
    with world.uow.begin() as tx:
        tx.run(text("UPDATE user_subscriptions SET status = 'ended', ended_at = :now"), now=NOW)
        ended = users.find(tx, user_id)
        users.set_tier(tx, user_id, Tier.PRO_PLUS, now=NOW + 10 * DAY)
        renewed = users.find(tx, user_id)
    assert ended is not None
    assert ended.tier is Tier.FREE
    assert renewed is not None
    assert (renewed.tier, renewed.anchor_at) == (Tier.PRO_PLUS, NOW + 10 * DAY)


def test_an_address_is_one_persons_in_any_case(uow: UnitOfWork) -> None:
    user_id = uuid4()
    with uow.begin() as tx:
        assert users.add(tx, user_id, email="Ann@Example.org", now=NOW)
        assert not users.add(tx, uuid4(), email="ann@example.ORG", now=NOW)
        found = users.find_by_email(tx, "ANN@example.org")
    assert found is not None
    assert (found.user_id, found.email) == (user_id, "Ann@Example.org")


def test_the_operators_rows_decide_what_a_plan_gives(world: World) -> None:
    user_id = world.user(Tier.PRO)
    world.rows("UPDATE subscription_plans SET concurrent_jobs = 9, analyses_per_period = NULL RETURNING tier")
    with world.uow.begin() as tx:
        account = users.find(tx, user_id)
    assert account is not None
    assert (account.plan.slot_limit, account.plan.analyses_per_period) == (9, None)


def test_nobody_is_found_or_locked_where_there_is_nobody(uow: UnitOfWork) -> None:
    with uow.begin() as tx:
        assert users.find(tx, uuid4()) is None
        assert users.lock(tx, uuid4()) is None
        assert users.find_by_email(tx, "nobody@example.org") is None


def test_anonymous_visitors_have_no_address(uow: UnitOfWork) -> None:
    user_id = uuid4()
    with uow.begin() as tx:
        users.add(tx, user_id, kind="anonymous", email=None, now=NOW)
        users.add(tx, uuid4(), kind="anonymous", email=None, now=NOW)
        account = users.find(tx, user_id)
    assert account is not None
    assert (account.is_anonymous, account.email, account.tier) == (True, None, Tier.FREE)
