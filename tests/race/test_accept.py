"""The accept transaction under parallel requests: real commits, real threads, one barrier."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from app.domain.plans import Tier
from app.errors import IdempotencyInFlight, IdempotencyMismatch, Problem, QuotaExceeded
from app.services.analyses.submit import submit
from app.services.jobs.answers import Answer
from app.store.jobs.idempotency import Stored
from tests.conftest import World, id_of, keyed
from tests.tiers import few

THREADS = 16


def at_once(calls: list[Any]) -> list[Any]:
    """Run the calls in THREADS threads that start together; problems are results."""
    barrier = Barrier(THREADS)

    def work(share: list[Any]) -> list[Any]:
        barrier.wait()
        return [_outcome(call) for call in share]

    with ThreadPoolExecutor(THREADS) as threads:
        shares = [calls[i::THREADS] for i in range(THREADS)]
        return [outcome for done in threads.map(work, shares) for outcome in done]


def _outcome(call: Any) -> Any:
    try:
        return call()
    except Problem as problem:
        return problem


@pytest.mark.parametrize("free", few(1, [7, 1, 50]))
def test_two_hundred_parallel_submissions_at_n_free_units_give_exactly_n_accepts(world: World, free: int) -> None:
    user_id = world.user(analyses=free)
    calls = [lambda: submit(world.uow, user_id, world.wanted(), world.policy, now=world.now) for _ in range(200)]
    outcomes = at_once(calls)
    accepted = [outcome for outcome in outcomes if isinstance(outcome, Answer)]
    refused = [outcome for outcome in outcomes if isinstance(outcome, QuotaExceeded)]
    assert (len(accepted), len(refused)) == (free, 200 - free)
    assert world.value("SELECT count(*) FROM quota_reservations") == free
    assert world.value("SELECT count(*) FROM kombu_message") == free
    assert {answer.job.id for answer in accepted} == {
        row["job_id"] for row in world.rows("SELECT job_id FROM analysis_requests WHERE role = 'payer'")
    }


def test_many_users_asking_for_one_commit_at_once_share_one_job_and_one_reservation(world: World) -> None:
    everybody = [world.user(Tier.PRO) for _ in range(32)]
    wanted = world.wanted()
    calls = [lambda user=user: submit(world.uow, user, wanted, world.policy, now=world.now) for user in everybody]
    answers = at_once(calls)
    assert {answer.is_known for answer in answers} == {False}
    assert len({answer.job.id for answer in answers}) == 1
    assert world.value("SELECT count(*) FROM kombu_message") == 1
    assert world.value("SELECT count(*) FROM quota_reservations") == 1
    assert world.value("SELECT count(*) FROM analysis_requests") == 32


def test_a_key_used_in_parallel_accepts_once_and_every_twin_is_replayed_or_told_to_wait(world: World) -> None:
    user_id, wanted, key = world.user(), world.wanted(), keyed("key-1", b"same body")
    calls = [lambda: submit(world.uow, user_id, wanted, world.policy, key=key, now=world.now) for _ in range(50)]
    outcomes = at_once(calls)
    answers = [outcome for outcome in outcomes if isinstance(outcome, Answer | Stored)]
    assert len([answer for answer in answers if isinstance(answer, Answer)]) == 1
    assert len({id_of(answer) for answer in answers}) == 1
    assert all(isinstance(outcome, Answer | Stored | IdempotencyInFlight) for outcome in outcomes)
    assert world.value("SELECT count(*) FROM quota_reservations") == 1


def test_a_key_with_another_body_is_refused_and_reserves_nothing(world: World) -> None:
    user_id = world.user()
    submit(world.uow, user_id, world.wanted(), world.policy, key=keyed("key-1", b"one"), now=world.now)
    with pytest.raises(IdempotencyMismatch):
        submit(world.uow, user_id, world.wanted(), world.policy, key=keyed("key-1", b"two"), now=world.now)
    assert world.value("SELECT count(*) FROM quota_reservations") == 1


def test_an_accept_whose_publish_fails_leaves_nothing_behind(world: World) -> None:
    user_id = world.user()

    def broken(connection: object, message: object) -> None:
        raise ConnectionError("the queue is away")

    with pytest.raises(ConnectionError):
        submit(type(world.uow)(world.uow.engine, broken), user_id, world.wanted(), world.policy, now=world.now)
    for table in ("quota_reservations", "kombu_message", "analysis_requests", "job_events"):
        assert world.value(f"SELECT count(*) FROM {table}") == 0
