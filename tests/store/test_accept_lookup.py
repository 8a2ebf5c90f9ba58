"""The look of an accept says what the statements say that others use for the same."""

from dataclasses import fields
from datetime import UTC, datetime, timedelta

import pytest

from app.domain.periods import period_at
from app.domain.plans import EventType, Tier
from app.domain.queues import Service
from app.domain.quota import Usage
from app.services.accounts import tokens
from app.services.jobs import admit
from app.store.accounts import users
from app.store.accounts.users import Account, Payer
from app.store.analyses.accept_lookup import look
from app.store.jobs import idempotency, quota
from app.store.jobs.quota import Sums
from tests.conftest import NOW, World


@pytest.mark.parametrize("tier", [None, *Tier])
def test_a_look_finds_the_account_that_a_look_up_finds(world: World, tier: Tier | None) -> None:
    user, wanted = world.user(tier or Tier.FREE), world.wanted()
    if tier is None:  # without a subscription: the free plan, from the account's birth
        world.rows("DELETE FROM user_subscriptions WHERE user_id = :user RETURNING id", user=user)
    with world.uow.begin() as tx:
        found = look(tx, user, None, wanted.repository, wanted.commit, "1", now=NOW)
        whole = users.find(tx, user)
    assert found.account is not None
    assert whole is not None
    shared = [one.name for one in fields(Payer) if one.name != "runs"]
    assert [getattr(found.account, name) for name in shared] == [getattr(whole, name) for name in shared]


def test_an_accept_knows_nothing_of_what_its_user_may_read(world: World) -> None:
    """A read-only operator's account without that column would say that the user is none."""
    user, wanted = world.user(), world.wanted()
    world.rows("UPDATE users SET is_read_only_operator = true, run_seconds = 3, spec_run_seconds = 5 RETURNING id")
    with world.uow.begin() as tx:
        found = look(tx, user, None, wanted.repository, wanted.commit, "1", now=NOW).account
    assert found is not None
    assert not isinstance(found, Account)
    assert not hasattr(found, "is_read_only_operator")
    assert {service: runs.mean for service, runs in found.runs.items()} == {Service.ANALYSIS: 3}


def test_a_look_and_a_batch_of_one_key_exclude_each_other_and_see_each_others_answer(world: World) -> None:
    user, wanted = world.user(), world.wanted()
    answer = idempotency.Stored(b"print", 202, {"id": "x"})
    with world.uow.begin() as batch:
        assert idempotency.try_lock(batch, user, "key") == (True, None)
        with world.uow.begin() as single:
            assert not look(single, user, "key", wanted.repository, wanted.commit, "1", now=NOW).key_locked
        idempotency.add(batch, user, "key", answer, now=NOW)
    with world.uow.begin() as single:
        found = look(single, user, "key", wanted.repository, wanted.commit, "1", now=NOW)
        assert (found.key_locked, found.stored) == (True, answer)
        with world.uow.begin() as batch:
            assert idempotency.try_lock(batch, user, "key")[0] is False


@pytest.mark.parametrize("tier", [None, *Tier])
def test_who_sent_a_token_is_the_account_that_a_look_up_finds(world: World, tier: Tier | None) -> None:
    user = world.user(tier or Tier.FREE)
    if tier is None:
        world.rows("DELETE FROM user_subscriptions WHERE user_id = :user RETURNING id", user=user)
    token = tokens.add_token(world.uow, user, now=NOW)
    found = tokens.by_token(world.uow, token.secret, writes_per_minute=60, now=NOW)
    with world.uow.begin() as tx:
        assert found is not None
        assert (found.account, found.scopes, found.remaining) == (users.find(tx, user), {"read", "write"}, 59)


@pytest.mark.parametrize(
    "anchor", ["2024-02-29", "2026-01-31", "2026-03-15T12:30:00.000001", "2026-11-30", "2027-05-31"]
)
@pytest.mark.parametrize(
    "at", ["2026-02-28", "2026-03-15T12:30", "2026-11-30", "2026-12-31T23:59:59.999999", "2028-02-29"]
)
def test_a_look_sums_up_the_period_that_the_rules_say(world: World, anchor: str, at: str) -> None:
    user, wanted = world.user(), world.wanted()
    began, now = (datetime.fromisoformat(text).replace(tzinfo=UTC) for text in (anchor, at))
    moved = "UPDATE user_subscriptions SET anchor_at = :began WHERE user_id = :user RETURNING id"
    world.rows(moved, began=began, user=user)
    with world.uow.begin() as tx:
        sums = look(tx, user, None, wanted.repository, wanted.commit, "1", now=now).existing.sums
        assert sums == Sums(period_at(began, now), 0, 0)


def test_a_look_sums_up_what_a_sum_by_itself_does_and_nothing_without_a_limit(world: World) -> None:
    user, free = world.user(), world.user(Tier.ENTERPRISE)
    world.finish(world.running(user, world.wanted("one")), user)
    world.submit(user, world.wanted("two"))
    wanted = world.wanted("three")
    with world.uow.begin() as tx:
        found = look(tx, user, None, wanted.repository, wanted.commit, "1", now=world.now)
        assert found.account is not None
        assert found.existing.sums is not None
        usage = quota.usage(tx, user, EventType.ANALYSIS, found.existing.sums.period, 50)
        assert (usage.used, usage.reserved) == (found.existing.sums.used, found.existing.sums.reserved) == (1, 1)
        assert look(tx, free, None, wanted.repository, wanted.commit, "1", now=world.now).existing.sums is None


def test_sums_of_another_period_are_not_believed(world: World) -> None:
    user = world.user()
    with world.uow.begin() as tx:
        account = users.lock(tx, user)
        assert account is not None
        wrong = Sums(period_at(account.anchor_at, NOW + timedelta(days=40)), 49, 1)
        seen = admit.check(tx, account, EventType.ANALYSIS, world.policy, units=1, sums=wrong, now=NOW)
        assert seen == Usage(0, 0, account.plan.analyses_per_period)
