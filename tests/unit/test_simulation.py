"""What if: the simulation keeps to the rules it stands for (docs/adr/0026)."""

from collections import defaultdict
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from app.domain.plans import Tier
from app.domain.simulation import Arrival, Run, simulate

LIMITS = {Tier.FREE: 1, Tier.PRO: 3, Tier.PRO_PLUS: 3, Tier.ENTERPRISE: 5}
TIERS = {"a": Tier.FREE, "b": Tier.FREE, "c": Tier.PRO, "d": Tier.PRO_PLUS, "e": Tier.ENTERPRISE, None: Tier.FREE}
QUEUE = "analysis_priority"

arrivals = st.lists(
    st.builds(
        lambda at, user, seconds: Arrival(at / 4, user, TIERS[user], QUEUE, seconds / 4),
        st.integers(0, 60), st.sampled_from(list(TIERS)), st.integers(1, 40),
    ),
    max_size=60,
)  # fmt: skip
processes = st.integers(1, 8)
turnarounds = st.sampled_from([0.0, 0.5])


def instants(runs: list[Run], turnaround: float) -> list[float]:
    """Between any two changes one instant, so that counts there are those of the whole span."""
    ends = [run.ended + turnaround for run in runs]
    changes = sorted({run.arrival.at for run in runs} | {run.started for run in runs} | set(ends))
    return [(before + after) / 2 for before, after in pairwise(changes)]


def taken(runs: list[Run], at: float, turnaround: float) -> dict[str | None, int]:
    """Slots by user at an instant."""
    counts: dict[str | None, int] = defaultdict(int)
    for run in runs:
        counts[run.arrival.user] += run.started <= at < run.ended + turnaround
    return counts


@given(arrivals, processes, turnarounds)
def test_no_user_is_ever_above_the_limit_nor_a_queue_above_its_processes(
    given_arrivals: list[Arrival], workers: int, turnaround: float
) -> None:
    runs = simulate(given_arrivals, LIMITS, {QUEUE: workers}, turnaround=turnaround)
    for at in instants(runs, turnaround):
        counts = taken(runs, at, turnaround)
        assert sum(counts.values()) <= workers
        assert all(count <= LIMITS[TIERS[user]] for user, count in counts.items() if user)


@given(arrivals, processes, turnarounds)
def test_no_process_is_idle_while_a_job_waits_whose_user_has_a_slot_free(
    given_arrivals: list[Arrival], workers: int, turnaround: float
) -> None:
    runs = simulate(given_arrivals, LIMITS, {QUEUE: workers}, turnaround=turnaround)
    for at in instants(runs, turnaround):
        counts = taken(runs, at, turnaround)
        if sum(counts.values()) < workers:
            waiting = {run.arrival.user for run in runs if run.arrival.at <= at < run.started}
            assert {user for user in waiting if user is None or counts[user] < LIMITS[TIERS[user]]} == set()


@given(arrivals, processes, turnarounds)
def test_each_job_runs_once_after_its_accept_and_a_users_in_the_order_in_which_they_came(
    given_arrivals: list[Arrival], workers: int, turnaround: float
) -> None:
    runs = simulate(given_arrivals, LIMITS, {QUEUE: workers}, turnaround=turnaround)
    assert [run.arrival for run in runs] == sorted(given_arrivals, key=lambda arrival: arrival.at)
    assert sum(run.ended - run.started for run in runs) == sum(arrival.seconds for arrival in given_arrivals)
    assert all(run.wait >= 0 for run in runs)
    for user in TIERS:
        starts = [run.started for run in runs if run.arrival.user == user]
        assert starts == sorted(starts)


def test_the_slots_of_a_user_count_over_both_queues_of_a_service() -> None:
    mixed = [
        Arrival(0, "a", Tier.PRO, queue, 10) for _ in range(3) for queue in ("analysis_default", "analysis_priority")
    ]
    runs = simulate(mixed, {Tier.PRO: 2}, {"analysis_default": 4, "analysis_priority": 4})
    assert sorted(run.started for run in runs) == [0, 0, 10, 10, 20, 20]
    other = [Arrival(0, "a", Tier.PRO, queue, 10) for queue in ("analysis_default", "specview_default")]
    assert [run.wait for run in simulate(other, {Tier.PRO: 1}, {"analysis_default": 1, "specview_default": 1})] == [
        0,
        0,
    ]


def test_a_flood_of_one_user_does_not_stand_before_the_jobs_of_others() -> None:
    flood = [Arrival(0, "hog", Tier.PRO, QUEUE, 1) for _ in range(300)]
    few = [Arrival(0.5, f"few{number}", Tier.PRO, QUEUE, 1) for number in range(5)]
    runs = simulate([*flood, *few], LIMITS, {QUEUE: 3})
    assert max(run.wait for run in runs if run.arrival.user != "hog") < 4


def test_shares_of_a_busy_queue_are_seconds_by_the_weight_of_the_tier() -> None:
    # all limits are above the processes, so that only the order shares them out
    limits = dict.fromkeys(Tier, 50)
    who = {"slow": (Tier.PRO, 10.0), "quick": (Tier.PRO, 1.0), "big": (Tier.ENTERPRISE, 1.0)}
    load = [
        Arrival(0, user, tier, QUEUE, seconds)
        for user, (tier, seconds) in who.items()
        for _ in range(int(3000 / seconds))
    ]
    runs = simulate(load, limits, {QUEUE: 4})
    span = max(run.started for run in runs) / 3
    service: dict[str | None, float] = defaultdict(float)
    for run in runs:
        service[run.arrival.user] += run.arrival.seconds * (span / 10 < run.started < span)
    assert 0.6 < service["slow"] / service["quick"] < 1.6
    assert 2.4 < service["big"] / service["quick"] < 3.6


def test_a_slot_and_a_process_stay_taken_for_the_turnaround() -> None:
    jobs = [Arrival(0, "a", Tier.FREE, QUEUE, 2) for _ in range(3)]
    runs = simulate(jobs, LIMITS, {QUEUE: 4}, turnaround=0.5)
    assert [run.started for run in runs] == [0, 2.5, 5.0]
