"""What waits were spent on, held against a slow count by the words of the rule."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.attribution import Cause, Course, attribute
from app.domain.plans import Tier
from app.domain.simulation import Run, turnaround
from app.domain.summaries import jain, percentile, sharing, summarise

LIMITS = {Tier.FREE: 1, Tier.PRO: 2}
QUEUES = ("analysis_default", "analysis_priority", "specview_default")
TIERS = {"a": Tier.FREE, "b": Tier.PRO, "c": Tier.PRO, None: Tier.FREE}


def course(
    user: str | None, accepted: float | None, *runs: tuple[float, float], queue: str = QUEUES[0], ended: bool = True
) -> Course:
    return Course(user, TIERS[user], queue, accepted, runs, ended)


@st.composite
def courses(draw: st.DrawFn) -> Course:
    """One to three attempts, with pauses between them; perhaps accepted before the span."""
    steps = draw(st.lists(st.integers(1, 20), min_size=1, max_size=6))
    instants = [float(draw(st.integers(0, 40)))]
    for step in steps:
        instants.append(instants[-1] + step)
    runs = tuple(zip(instants[1::2], instants[2::2], strict=False))
    user, queue = draw(st.sampled_from(list(TIERS))), draw(st.sampled_from(QUEUES))
    return course(user, None if runs and draw(st.booleans()) else instants[0], *runs, queue=queue)


pauses = st.lists(st.tuples(st.sampled_from(QUEUES), st.integers(0, 30), st.integers(1, 9)), max_size=3).map(
    lambda drawn: [(queue, float(40 * n + at), float(40 * n + at + long)) for n, (queue, at, long) in enumerate(drawn)]
)


def cause_at(at: float, mine: Course, everybody: list[Course], stops: list[tuple[str, float, float]]) -> Cause:
    running = [other for other in everybody for start, end in other.runs if start <= at < end]
    own = [other for other in running if other.user == mine.user and other.service == mine.service]
    if mine.user is not None and len(own) >= LIMITS[mine.tier]:
        return Cause.OWN_LIMIT
    if any(queue == mine.queue and begin <= at < end for queue, begin, end in stops):
        return Cause.PAUSED
    others = [other for other in running if other.user != mine.user and other.queue == mine.queue]
    return Cause.OTHERS if others else Cause.NO_WORKER


@pytest.mark.proof
@given(st.lists(courses(), max_size=12), pauses)
def test_each_second_of_a_wait_goes_to_the_first_cause_that_is_so(
    everybody: list[Course], stops: list[tuple[str, float, float]]
) -> None:
    found = attribute(everybody, stops, LIMITS)
    expected = [one for one in everybody if one.accepted is not None and one.runs]
    assert sorted(wait.course.runs for wait in found) == sorted(one.runs for one in expected)
    for wait in found:
        accepted, started = wait.course.accepted, wait.course.runs[0][0]
        assert accepted is not None
        counted = dict.fromkeys(Cause, 0.0)
        for begin, end in pairwise(range(int(accepted), int(started) + 1)):
            counted[cause_at((begin + end) / 2, wait.course, everybody, stops)] += 1
        assert wait.seconds == pytest.approx(counted, abs=1e-4)
        assert wait.total == pytest.approx(started - accepted, abs=1e-4)


def test_a_change_of_tier_changes_the_limit_from_the_next_accept_on() -> None:
    before, after = course("a", 0, (0, 10)), Course("a", Tier.PRO, QUEUES[0], 2, ((8, 9),), ended=True)
    [_, wait] = attribute([before, after], [], LIMITS)
    assert wait.seconds == {Cause.OWN_LIMIT: 0, Cause.PAUSED: 0, Cause.OTHERS: 0, Cause.NO_WORKER: 6}


def test_a_summary_tells_percentiles_and_the_mean_of_each_cause() -> None:
    found = attribute([course("a", 0, (0, 4)), course("a", 0, (4, 8)), course("c", 0, (10, 11))], [], LIMITS)
    told = summarise(found)
    assert (told.jobs, told.p50, told.p95, told.mean) == (3, 4, 10, pytest.approx(14 / 3))
    assert told.causes == pytest.approx(
        {Cause.OWN_LIMIT: 4 / 3, Cause.PAUSED: 0, Cause.OTHERS: 8 / 3, Cause.NO_WORKER: 2 / 3}, abs=1e-5
    )
    assert summarise([]).jobs == 0


def test_a_percentile_is_one_of_the_values() -> None:
    assert [percentile([5, 1, 3], share) for share in (0, 0.5, 0.95, 1)] == [1, 3, 5, 5]
    assert percentile([], 0.5) == 0


def test_equal_shares_have_the_index_1_and_all_to_one_of_n_has_1_by_n() -> None:
    assert jain([3, 3, 3]) == 1
    assert jain([5, 0, 0, 0]) == 0.25
    assert jain([0, 0]) == 1


def test_sharing_counts_only_users_that_had_work_waiting_by_the_hour() -> None:
    told = sharing(
        [
            course("b", 0, (3000, 4200)),  # waits in the first hour, is served in both
            course("c", 10, (20, 620)),
            course("a", None, (0, 3600)),  # never waits
            course("b", 3700, ended=False),
            course("c", 3700, (7100, 7150)),
        ],
        until=7200,
    )
    assert [(hour.begin, hour.users) for hour in told] == [(0, 2), (3600, 2)]
    assert [hour.index for hour in told] == pytest.approx([1.0, jain([600, 50])])


def test_seconds_are_shared_by_the_weight_of_the_tier() -> None:
    big = Course("x", Tier.ENTERPRISE, QUEUES[1], 0, ((10, 310),), ended=True)
    [told] = sharing([big, course("c", 0, (10, 110), queue=QUEUES[1])], until=3600)
    assert told.index == pytest.approx(1)


def test_the_turnaround_is_of_starts_that_waited_for_an_end() -> None:
    def runs(*times: tuple[float, float, float]) -> list[Run]:
        return [run for at, start, end in times if (run := course("b", at, (start, end)).recorded)]

    assert turnaround(runs((0, 0, 10), (1, 10.5, 12), (2, 12.5, 13), (40, 41, 42))) == 0.5
    assert turnaround(runs((0, 0, 1), (5, 6, 7))) == 0
