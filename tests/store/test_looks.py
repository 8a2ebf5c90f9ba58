"""The look of an accept says what the statements say that others use for the same."""

import pytest

from app.domain.plans import Tier
from app.store import idempotency, users
from app.store.looks import look
from tests.conftest import NOW, World


@pytest.mark.parametrize("tier", [None, *Tier])
def test_a_look_finds_the_account_that_a_look_up_finds(world: World, tier: Tier | None) -> None:
    user, wanted = world.user(tier or Tier.FREE), world.wanted()
    if tier is None:  # without a subscription: the free plan, from the account's birth
        world.rows("DELETE FROM user_subscriptions WHERE user_id = :user RETURNING id", user=user)
    with world.uow.begin() as tx:
        found = look(tx, user, None, wanted.repository, wanted.commit, "1")
        assert found.account is not None
        assert found.account == users.find(tx, user)


def test_a_look_and_a_batch_of_one_key_exclude_each_other_and_see_each_others_answer(world: World) -> None:
    user, wanted = world.user(), world.wanted()
    answer = idempotency.Stored(b"print", 202, {"id": "x"})
    with world.uow.begin() as batch:
        assert idempotency.claim(batch, user, "key") == (True, None)
        with world.uow.begin() as single:
            assert not look(single, user, "key", wanted.repository, wanted.commit, "1").claimed
        idempotency.add(batch, user, "key", answer, now=NOW)
    with world.uow.begin() as single:
        found = look(single, user, "key", wanted.repository, wanted.commit, "1")
        assert (found.claimed, found.stored) == (True, answer)
        with world.uow.begin() as batch:
            assert idempotency.claim(batch, user, "key")[0] is False
