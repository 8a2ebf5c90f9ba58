"""Token buckets, exact among all processes."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from uuid import UUID

import pytest
from sqlalchemy import text

from app.errors import TooManyRequests
from app.services.accounts.throttle import throttle
from app.store.accounts import rates
from app.store.core.unit_of_work import UnitOfWork

THREADS = 8
PASS = "UPDATE rate_buckets SET refilled_at = refilled_at - :seconds * interval '1 second'"


def take(uow: UnitOfWork, key: str = "user", *, per_minute: int = 60) -> float:
    with uow.begin() as tx:
        return rates.take(tx, key, per_minute=per_minute).wait


def let_pass(uow: UnitOfWork, seconds: float) -> None:
    with uow.begin() as tx:
        tx.run(text(PASS), seconds=seconds)


def clock(uow: UnitOfWork) -> float:
    with uow.begin() as tx:
        return float(tx.run(text("SELECT extract(epoch FROM clock_timestamp())")).scalar_one())


@pytest.mark.parametrize("cap", [50, 3, 1])
def test_threads_that_take_at_once_get_the_cap_together_and_no_request_more(uow: UnitOfWork, cap: int) -> None:
    barrier, began = Barrier(THREADS), clock(uow)

    def work(_: int) -> int:
        barrier.wait()
        return sum(take(uow, per_minute=cap) == 0 for _ in range(20))

    with ThreadPoolExecutor(THREADS) as threads:
        granted = sum(threads.map(work, range(THREADS)))
    refilled = (clock(uow) - began) * cap / 60
    assert cap <= granted <= cap + refilled


def test_a_refused_request_is_told_how_long_to_wait_and_spends_nothing(uow: UnitOfWork) -> None:
    began = clock(uow)
    assert [take(uow, per_minute=2) for _ in range(2)] == [0, 0]
    waits = [take(uow, per_minute=2) for _ in range(5)]
    assert all(30 - (clock(uow) - began) <= wait <= 30 for wait in waits)
    let_pass(uow, 30)
    assert take(uow, per_minute=2) == 0


def test_a_bucket_never_holds_more_than_its_minute(uow: UnitOfWork) -> None:
    assert take(uow, per_minute=2) == 0
    let_pass(uow, 86_400)
    assert [take(uow, per_minute=2) > 0 for _ in range(3)] == [False, False, True]


def test_after_the_clock_went_back_by_an_hour_a_bucket_is_refilled_as_ever(uow: UnitOfWork) -> None:
    began = clock(uow)
    assert [take(uow, per_minute=2) for _ in range(2)] == [0, 0]
    let_pass(uow, -3_600)  # it was used an hour from now
    waits = [take(uow, per_minute=2) for _ in range(3)]
    assert all(30 - (clock(uow) - began) <= wait <= 30 for wait in waits)
    let_pass(uow, 30)
    assert take(uow, per_minute=2) == 0


def test_after_the_clock_went_back_a_bucket_that_is_not_empty_grants_what_it_holds(uow: UnitOfWork) -> None:
    assert take(uow, per_minute=3) == 0
    let_pass(uow, -3_600)
    assert [take(uow, per_minute=3) > 0 for _ in range(3)] == [False, False, True]


def test_a_debt_from_before_the_clock_went_back_is_paid_in_its_own_time(uow: UnitOfWork) -> None:
    began = clock(uow)
    with uow.begin() as tx:
        assert rates.spend(tx, "user", per_minute=10, cost=25).remaining == -15
    let_pass(uow, -3_600)
    wait = take(uow, per_minute=10)
    assert 96 - (clock(uow) - began) <= wait <= 96


def test_each_key_has_a_bucket_of_its_own(uow: UnitOfWork) -> None:
    assert take(uow, "one", per_minute=1) == 0
    assert take(uow, "other", per_minute=1) == 0
    assert take(uow, "one", per_minute=1) > 0


def test_buckets_unused_for_an_hour_are_forgotten(uow: UnitOfWork) -> None:
    take(uow, "old")
    let_pass(uow, 3_601)
    take(uow, "new")
    with uow.begin() as tx:
        assert rates.prune(tx) == 1
        assert tx.run(text("SELECT key FROM rate_buckets")).scalars().all() == ["new"]


def test_who_asks_too_often_is_told_whole_seconds(uow: UnitOfWork) -> None:
    user, began = UUID(int=7), clock(uow)
    throttle(uow, user, per_minute=1)
    with pytest.raises(TooManyRequests, match=r"More than 1 requests per minute; try again in \d+ s") as refused:
        throttle(uow, user, per_minute=1)
    assert 60 - (clock(uow) - began) <= refused.value.retry_after <= 60
    assert f"try again in {refused.value.retry_after} s" in str(refused.value)


def test_what_is_left_is_told_whether_granted_or_not(uow: UnitOfWork) -> None:
    def told(cost: int) -> tuple[int, bool]:
        let_pass(uow, -3_600)  # it was used an hour from now, so nothing is refilled between two requests
        with uow.begin() as tx:
            charged = rates.spend(tx, "user", per_minute=10, cost=cost)
        return charged.remaining, charged.wait == 0

    assert [told(1), told(8), told(2), told(1), told(1)] == [
        (9, True),
        (1, True),
        (1, False),
        (0, True),
        (0, False),
    ]
    let_pass(uow, 3_660)
    began = clock(uow)
    assert told(25) == (-15, True)
    wait = take(uow, per_minute=10)
    assert 96 - (clock(uow) - began) <= wait <= 96
