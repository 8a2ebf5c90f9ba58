"""Why a job waits: in a code, in numbers and in words."""

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain import waiting
from app.domain.waiting import Line, Reason

TIMES = (2.0, 4.0, 10.0)  # 10th, 50th and 90th percentile, seconds
AT = datetime(2026, 11, 21, 9, 5, 7, tzinfo=UTC)
MEMBERS = {
    "reason", "position", "ahead_of_you", "yours_ahead", "running", "limit", "eta_seconds", "eta_low", "eta_high",
    "text",
}  # fmt: skip


def line(
    position: int = 1,
    *,
    own: int = 0,
    workers: int = 2,
    age: float = 0.0,
    paused: bool = False,
    times: tuple[float, ...] | None = TIMES,
    more: bool = False,
) -> Line:
    return Line(position, own, workers, age, paused, times, more)


@pytest.mark.parametrize(
    ("where", "reason"),
    [
        (line(), Reason.WORKERS_BUSY),
        (line(workers=0, age=10.0), Reason.WORKERS_BUSY),
        (line(workers=0, age=10.1), Reason.NO_WORKERS),
        (line(workers=1, age=3600.0), Reason.WORKERS_BUSY),
        (line(paused=True), Reason.QUEUE_PAUSED),
        (line(workers=0, age=99.0, paused=True), Reason.QUEUE_PAUSED),
    ],
)
def test_the_reason_a_ready_job_has_not_started(where: Line, reason: Reason) -> None:
    assert waiting.reason_for(where) is reason
    assert waiting.ready(where)["reason"] == reason.value


def test_a_busy_queue_tells_the_place_in_numbers_and_in_words() -> None:
    told = waiting.ready(line(5, own=2, workers=2))
    assert (told["position"], told["ahead_of_you"], told["yours_ahead"]) == (5, 4, 2)
    assert told["text"] == "Number 5 in the queue."
    assert (told["eta_low"], told["eta_seconds"], told["eta_high"]) == (3, 10, 26)


def test_the_next_one_is_told_that_it_starts() -> None:
    told = waiting.ready(line(1))
    assert told["text"] == "Starting."
    assert told["ahead_of_you"] == 0


def test_a_paused_queue_and_one_without_workers_promise_no_time() -> None:
    paused = waiting.ready(line(3, paused=True))
    alone = waiting.ready(line(3, workers=0, age=60.0))
    assert paused["text"] == "The operator has paused this queue; your job keeps its place."
    assert alone["text"] == "No worker serves this queue right now; your job starts as soon as one does."
    for told in (paused, alone):
        assert (told["eta_low"], told["eta_seconds"], told["eta_high"]) == (None, None, None)


def test_before_anything_was_measured_no_time_is_made_up() -> None:
    assert waiting.eta(line(5, times=None)) is None
    assert waiting.ready(line(5, times=None))["eta_seconds"] is None


def test_where_counting_stopped_the_place_is_a_bound_and_no_time_is_made_up() -> None:
    told = waiting.ready(line(1_001, more=True))
    assert told["text"] == "More than 1,000 jobs are ahead."
    assert (told["position"], told["eta_seconds"]) == (1_001, None)


@given(
    st.integers(1, 10_000),
    st.integers(0, 100),
    st.lists(st.floats(0, 1e5), min_size=3, max_size=3).map(sorted),
)
def test_an_estimate_lies_between_its_bounds_and_never_in_the_past(
    position: int, workers: int, times: list[float]
) -> None:
    found = waiting.eta(line(position, workers=workers, times=tuple(times)))
    assert found is not None
    likely, low, high = found
    assert 0 <= low <= likely <= high


def test_a_user_at_the_limit_is_told_what_runs_and_the_latest_start() -> None:
    told = waiting.at_limit(1, 1, "free", AT)
    assert (told["reason"], told["running"], told["limit"]) == ("user_at_limit", 1, 1)
    assert told["text"] == (
        "Waiting for your slot: 1 of 1 running on tier free. Starts when one ends, at 09:05:07 UTC at the latest."
    )
    assert waiting.at_limit(3, 3, "pro", None)["text"].endswith("Starts when one ends.")


def test_a_job_between_two_attempts_is_told_when_the_next_one_is() -> None:
    assert waiting.backing_off(AT)["text"] == "The last attempt failed; trying again at 09:05:07 UTC."
    assert waiting.backing_off(None)["text"] == "The last attempt failed; trying again soon."
    assert waiting.backing_off(AT)["reason"] == "backoff"


def test_every_kind_of_wait_has_the_same_members() -> None:
    for told in (waiting.ready(line()), waiting.at_limit(1, 1, "free", None), waiting.backing_off(None)):
        assert told.keys() == MEMBERS
