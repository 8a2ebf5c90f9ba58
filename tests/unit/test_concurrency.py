"""Lanes and buckets: few at once, and so many a minute."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from app.concurrency import Lane
from app.errors import Busy, TooManyRequests
from app.web.limits.read_buckets import Buckets


def test_a_lane_has_so_many_places_in_all_of_a_client_and_of_a_further_key() -> None:
    lane = Lane("tests", places=3, client=2, others={"host": 2})
    with lane.place("a", host="x"), lane.place("a", host="y"):
        with pytest.raises(TooManyRequests, match="You have 2 tests under way") as refused:
            lane.enter("a", host="z")
        assert refused.value.retry_after
        with lane.place("b", host="x"), pytest.raises(Busy, match="Too many tests at once"):
            lane.enter("c", host="y")
        with lane.place("b", host="x"), pytest.raises(Busy):
            lane.enter("c", host="x")
    assert not lane._taken


def test_a_few_requests_wait_for_a_place_and_the_rest_are_refused_at_once() -> None:
    lane = Lane("tests", places=1, client=1, waiting=1, patience=60)
    entered = threading.Event()

    def wait() -> None:
        with lane.place("b"):
            entered.set()

    with ThreadPoolExecutor(1) as threads:
        with lane.place("a"):
            waiting = threads.submit(wait)
            while not lane._queued.total():
                assert not waiting.done()
            with pytest.raises(Busy):
                lane.enter("c")
            assert not entered.is_set()
        waiting.result(60)
    assert entered.is_set()


def test_who_waited_too_long_is_refused() -> None:
    lane = Lane("tests", places=1, client=1, waiting=1, patience=0.01)
    with lane.place("a"), pytest.raises(Busy):
        lane.enter("b")
    with lane.place("a"), pytest.raises(Busy):
        lane.enter("b", patience=0.01)
    assert not lane._queued


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_bucket_gives_so_much_a_minute_and_is_never_fuller() -> None:
    clock = Clock()
    bucket = Buckets(60, clock)
    bucket.take("a", 59)
    bucket.take("a")
    with pytest.raises(TooManyRequests, match="try again in 1 s") as refused:
        bucket.take("a")
    assert refused.value.retry_after == 1
    bucket.take("b")
    clock.now = 3_600
    bucket.take("a", 59)
    bucket.take("a")
    with pytest.raises(TooManyRequests):
        bucket.take("a")


def test_a_cost_beyond_the_bucket_is_given_once_and_paid_off() -> None:
    clock = Clock()
    bucket = Buckets(60, clock)
    bucket.take("a")
    bucket.take("a", 600)
    for now, refuses in ((0, True), (500, True), (542, False)):
        clock.now = now
        try:
            bucket.take("a")
        except TooManyRequests:
            assert refuses, now
        else:
            assert not refuses, now


def test_a_bucket_that_is_asked_for_is_not_taken_from() -> None:
    bucket = Buckets(2, Clock())
    for _ in range(5):
        bucket.require("a")
    bucket.take("a")
    bucket.require("a")
    bucket.take("a")
    with pytest.raises(TooManyRequests):
        bucket.require("a")
