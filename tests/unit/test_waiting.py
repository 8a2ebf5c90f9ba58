"""Why a job waits: in a code, in numbers and in words."""

import random
from dataclasses import replace
from datetime import UTC, datetime
from heapq import heapify, heapreplace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import waiting
from app.domain.waiting import Line, Reason, Runs

RUNS = Runs(mean=4.0, deviation=2.0)  # seconds
AT = datetime(2026, 11, 21, 9, 5, 7, tzinfo=UTC)


def line(
    position: int = 1,
    *,
    own: int = 0,
    workers: int = 2,
    age: float = 0.0,
    paused: bool = False,
    runs: Runs | None = RUNS,
    more: bool = False,
    worker_free: bool = False,
) -> Line:
    return Line(position, own, workers, age, paused, runs, more, worker_free=worker_free)


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        (line(), Reason.WORKERS_BUSY),
        (line(workers=0, age=10.0), Reason.STARTING),
        (line(2, workers=0, age=10.0), Reason.WORKERS_BUSY),
        (line(worker_free=True), Reason.STARTING),
        (line(2, worker_free=True), Reason.WORKERS_BUSY),
        (line(workers=0, age=10.1), Reason.NO_WORKERS),
        (line(workers=1, age=3600.0), Reason.WORKERS_BUSY),
        (line(paused=True), Reason.QUEUE_PAUSED),
        (line(workers=0, age=99.0, paused=True), Reason.QUEUE_PAUSED),
        (line(workers=0, paused=True, worker_free=True), Reason.QUEUE_PAUSED),
    ],
)
def test_the_reason_a_ready_job_has_not_started(where: Line, reason: Reason) -> None:
    assert waiting.reason_for(where) is reason
    assert waiting.ready(where).reason == reason.value


def test_a_busy_queue_tells_the_place_in_numbers_and_in_words() -> None:
    told = waiting.ready(line(5, own=2, workers=2))
    assert (told.position, told.ahead_of_you, told.yours_ahead) == (5, 4, 2)
    assert told.text == "Number 5 in the queue."
    assert (told.eta_low, told.eta_seconds, told.eta_high) == (3, 10, 16)


def test_the_first_in_line_is_told_that_it_starts_where_a_worker_is_free_and_that_it_is_next_where_none_is() -> None:
    starts, waits = waiting.ready(line(1, worker_free=True)), waiting.ready(line(1))
    assert starts.text == "Starting."
    assert waits.text == "Your job is next: all workers are busy, and the first free one takes it."
    assert starts.ahead_of_you == waits.ahead_of_you == 0


def test_a_paused_queue_and_one_without_workers_promise_no_time() -> None:
    paused = waiting.ready(line(3, paused=True))
    alone = waiting.ready(line(3, workers=0, age=60.0))
    assert paused.text == "The operator has paused this queue; your job keeps its place."
    assert alone.text == "No worker serves this queue right now; your job starts as soon as one does."
    for told in (paused, alone):
        assert (told.eta_low, told.eta_seconds, told.eta_high) == (None, None, None)


def test_before_anything_was_measured_no_time_is_made_up() -> None:
    assert waiting.eta(line(5), None, 2) is None
    assert waiting.ready(line(5, runs=None)).eta_seconds is None


def test_where_counting_stopped_the_place_is_a_bound_and_no_time_is_made_up() -> None:
    told = waiting.ready(line(1_001, more=True))
    assert told.text == "More than 1,000 jobs are ahead."
    assert (told.position, told.eta_seconds) == (1_001, None)


@given(st.integers(1, 10_000), st.integers(0, 100), st.floats(0, 1e5), st.floats(0, 1e5))
def test_an_estimate_lies_between_its_bounds_and_never_in_the_past(
    position: int, workers: int, mean: float, deviation: float
) -> None:
    found = waiting.eta(line(position), Runs(mean, deviation), workers)
    assert found is not None
    likely, low, high = found
    assert 0 <= low <= likely <= high


@pytest.mark.parametrize("shape", ["constant", "exponential", "even"])
@pytest.mark.parametrize(("position", "servers"), [(1, 1), (1, 3), (4, 1), (10, 3), (100, 8)])
def test_four_of_five_starts_lie_between_the_bounds(shape: str, position: int, servers: int) -> None:
    draw = random.Random(11)
    durations = {
        "constant": lambda: 4.0, "exponential": lambda: draw.expovariate(1 / 4), "even": lambda: draw.uniform(0, 8)
    }[shape]  # fmt: skip
    deviation = {"constant": 0.0, "exponential": 4.0, "even": 8 / 12**0.5}[shape]
    found = waiting.eta(line(position), Runs(4.0, deviation), servers)
    assert found is not None
    inside = 0
    for _ in range(500):
        # each server ends what it runs at some moment of it, and then takes one after the other
        ends = [durations() * draw.random() for _ in range(servers)]
        heapify(ends)
        for _ in range(position - 1):
            heapreplace(ends, ends[0] + durations())
        inside += found[1] <= ends[0] <= found[2]
    assert inside >= 400


def test_a_user_at_the_limit_is_told_what_runs_and_what_is_before() -> None:
    held = replace(line(3, own=2), held=True, taken=1)
    told = waiting.at_limit(held, 1, "free", Runs(10.0, 0.0))
    assert (told.reason, told.running, told.limit) == ("user_at_limit", 1, 1)
    assert (told.position, told.ahead_of_you, told.yours_ahead) == (3, 2, 2)
    assert told.text == (
        "Your jobs use 1 of 1 slot of tier free, and 2 of your jobs are ahead of this one. It starts as soon as one ends."
    )
    assert told.eta_low <= 25 <= told.eta_seconds <= 30 <= told.eta_high
    assert waiting.at_limit(replace(held, more=True), 1, "free", None).eta_seconds is None
    assert waiting.at_limit(replace(held, paused=True), 1, "free", None).eta_seconds is None


def test_a_job_between_two_attempts_is_told_when_the_next_one_is() -> None:
    assert waiting.backing_off(AT).text == "The last attempt failed; trying again at 09:05:07 UTC."
    assert waiting.backing_off(None).text == "The last attempt failed; trying again soon."
    assert waiting.backing_off(AT).reason == "backoff"


@given(st.floats(0.1, 5), st.floats(0, 5), st.floats(0, 5), st.floats(0, 1e5))
def test_what_was_learnt_of_late_moves_an_estimate_and_its_bounds(
    low: float, middle: float, high: float, guessed: float
) -> None:
    pace = waiting.Pace(low, low + middle, low + middle + high)
    likely, least, most = pace.applied(guessed)
    assert 0 <= least <= likely <= most
    if guessed > 1_000:
        assert likely == pytest.approx(guessed * pace.middle, rel=0.02)


def test_an_estimate_uses_what_was_learnt_of_such_jobs_and_of_the_wait_for_a_worker() -> None:
    late = waiting.Pace(1.0, 2.0, 3.0, waited=6.0)
    assert waiting.eta(line(5), RUNS, 2) == (10, 3, 16)
    assert waiting.eta(line(5), RUNS, 2, late) == (21, 10, 33)
    held = replace(line(3, own=2), held=True, taken=1)
    told = waiting.at_limit(held, 1, "free", Runs(10.0, 0.0), waiting.Pace(1.0, 1.0, 1.0), step=late.waited)
    assert (told.eta_low, told.eta_seconds, told.eta_high) == (48, 48, 49)


def test_nothing_is_guessed_of_a_paused_queue_of_a_place_too_far_behind_or_before_the_first_run() -> None:
    assert waiting.guess(line(5), RUNS, 2) == 10.0
    for where in (line(5, paused=True), line(5, more=True)):
        assert waiting.guess(where, RUNS, 2) is None
    assert waiting.guess(line(5), None, 2) is None
