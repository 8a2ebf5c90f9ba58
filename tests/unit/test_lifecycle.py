"""States, legal moves, attempts and back-off (docs/adr/0008)."""

from datetime import timedelta
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.domain.lifecycle import FINAL, MOVES, RETRIES, WORKER_LOST, Delivery, RecordStatus, Status
from app.domain.queues import Service

JOB, TOKEN = UUID(int=1), UUID(int=2)


def test_every_state_has_its_moves_and_every_move_ends_in_a_state() -> None:
    assert MOVES.keys() == set(Status)
    assert set().union(*MOVES.values()) == set(Status)


def test_final_states_have_no_way_out_and_all_others_have_one() -> None:
    assert {status for status, moves in MOVES.items() if not moves} == FINAL
    assert frozenset({Status.COMPLETED, Status.FAILED, Status.CANCELLED}) == FINAL


def test_from_every_state_a_job_can_still_end() -> None:
    ends = set(FINAL)
    for _ in Status:
        ends |= {status for status, moves in MOVES.items() if moves & ends}
    assert ends == set(Status)


def test_a_job_completes_only_from_running_and_every_unfinished_one_can_be_cancelled() -> None:
    assert {status for status, moves in MOVES.items() if Status.COMPLETED in moves} == {Status.RUNNING}
    assert {status for status, moves in MOVES.items() if Status.CANCELLED in moves} == set(Status) - FINAL


def test_a_record_knows_only_states_a_user_sees() -> None:
    assert {status.value for status in RecordStatus} == {"running", *FINAL}


@pytest.mark.parametrize(("service", "seconds"), [(Service.ANALYSIS, 1), (Service.SPECVIEW, 10)])
@pytest.mark.parametrize("attempt", [1, 2])
def test_back_off_is_n_squared_units_plus_a_tenth_at_most(service: Service, seconds: int, attempt: int) -> None:
    least = timedelta(seconds=seconds * attempt**2)
    assert RETRIES[service].backoff(attempt, 0.0) == least
    assert least < RETRIES[service].backoff(attempt, 0.999) < least * 1.1


@given(st.sampled_from(Service), st.integers(1, 100), st.floats(0, 1, exclude_max=True))
def test_back_off_never_leaves_its_bounds(service: Service, attempt: int, roll: float) -> None:
    least = RETRIES[service].unit * attempt**2
    assert least <= RETRIES[service].backoff(attempt, roll) <= least * 1.1


@pytest.mark.parametrize("service", list(Service))
def test_every_service_gives_a_job_three_attempts(service: Service) -> None:
    assert RETRIES[service].max_attempts == 3


@pytest.mark.parametrize(
    ("retries", "lost", "attempt"), [(0, 0, 1), (1, 0, 2), (0, 1, 2), (1, 1, 3), (0, 3, 4), (2, 0, 3)]
)
def test_an_attempt_is_spent_by_an_error_and_by_a_dead_worker_alike(retries: int, lost: int, attempt: int) -> None:
    assert Delivery(JOB, TOKEN, retry_count=retries, lost_count=lost).attempt == attempt


def test_a_job_whose_every_worker_died_is_not_started_by_itself_again() -> None:
    assert (WORKER_LOST.code, WORKER_LOST.retryable) == ("worker_lost", False)
