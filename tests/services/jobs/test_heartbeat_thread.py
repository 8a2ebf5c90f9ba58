"""The thread of the heartbeat: whatever happens to it, the attempt goes on under a pulse or ends."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from threading import Event
from typing import Any

import pytest
from celery import Celery
from celery.exceptions import Reject, SoftTimeLimitExceeded
from durable_harness.waiting import wait_for
from sqlalchemy.exc import OperationalError
from testlist.progress import Stopped

from app import machine
from app.domain.queues import Service
from app.services.jobs.heartbeat import Pulse
from app.store.core.unit_of_work import UnitOfWork
from tasks import base, heartbeat
from tasks.heartbeat import Heartbeat, HeartbeatSilent, JobStopped
from tests.conftest import World
from tests.services.busy import leave


class _EndsTheThread(BaseException):
    """What no handler catches."""


@pytest.fixture
def made(world: World, monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], Heartbeat]:
    """A factory of heartbeats of a running job that somebody has cancelled.  before: what happens at each beat."""
    monkeypatch.setattr(heartbeat, "PHASE_SECONDS", 0.01)
    right = heartbeat.beat

    def make(before: Callable[[int], None], *, lease_seconds: float = 15) -> Heartbeat:
        user, count = world.user(), iter(range(10**6))
        delivery = world.running(user)
        leave(world, delivery.job_id, user)

        def beat(*arguments: Any) -> Pulse:
            before(next(count))
            return right(*arguments)

        monkeypatch.setattr(heartbeat, "beat", beat)
        policy = replace(world.policy, lease_seconds=lease_seconds)
        return Heartbeat(UnitOfWork(world.uow.engine), Service.ANALYSIS, delivery, policy, seconds=0.01)

    return make


def hears(heart: Heartbeat) -> bool:
    """Whether a body that goes on hears of the cancellation."""

    def stopped() -> bool:
        try:
            heart.checkpoint("parsing", 1, 2)
        except JobStopped:
            return True
        return False

    with heart:
        return bool(wait_for(stopped, "the body to hear of its end"))


@pytest.mark.parametrize("error", [RuntimeError, ValueError, MemoryError])
def test_a_beat_that_raises_is_followed_by_the_next(made: Any, error: type[Exception]) -> None:
    def first_fails(number: int) -> None:
        if number == 0:
            raise error

    assert hears(made(first_fails))


def test_a_database_that_is_away_is_logged_once(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    logged: list[str] = []
    monkeypatch.setattr(heartbeat.log, "warning", lambda event, **_: logged.append(event))

    def away(number: int) -> None:
        if number < 5:
            raise OperationalError("SELECT", {}, Exception("away"))

    assert hears(made(away))
    assert logged == ["heartbeat_failed"]


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_thread_that_died_is_followed_by_another(made: Any) -> None:
    def first_dies(number: int) -> None:
        if number == 0:
            raise _EndsTheThread

    assert hears(made(first_dies))


def test_a_beat_that_hangs_ends_the_attempt_for_good_reason(made: Any) -> None:
    never = Event()
    heart = made(lambda _: never.wait() or None, lease_seconds=0.05)

    def body() -> None:
        with heart:
            wait_for(lambda: heart.checkpoint("parsing", 1, 2), "the silence to be noticed")

    with pytest.raises(HeartbeatSilent):
        body()
    never.set()


def test_an_attempt_that_is_over_is_over_at_each_checkpoint(world: World) -> None:
    """A finalizer or a library may swallow what the signal raises; for the engine it stops the run."""
    before = signal.getsignal(signal.SIGUSR1)
    with Heartbeat(world.uow, Service.ANALYSIS, world.running(world.user()), world.policy, seconds=3600) as heart:
        heart.checkpoint("parsing", 0, 2)
        with pytest.raises(SoftTimeLimitExceeded) as over:
            signal.raise_signal(signal.SIGUSR1)
        assert isinstance(over.value, Stopped)
        for done in range(2):
            with pytest.raises(SoftTimeLimitExceeded):
                heart.checkpoint("parsing", done, 2)
    assert signal.getsignal(signal.SIGUSR1) is before
    assert not heart.is_too_large


def test_an_attempt_whose_process_becomes_too_large_is_over_wherever_it_is(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(heartbeat, "PHASE_SECONDS", 0.01)
    sizes = iter([99, 100, 104, 104, 116, 117, 119, *[0] * 10_000])
    monkeypatch.setattr(machine, "resident", sizes.__next__)
    delivery = world.running(world.user())
    with Heartbeat(world.uow, Service.ANALYSIS, delivery, world.policy, seconds=3600, memory=100) as heart:
        for _ in range(2):  # again, as it was swallowed and the process has grown
            with pytest.raises(SoftTimeLimitExceeded):
                wait_for(lambda: False, "nothing")
            assert heart.is_too_large


def test_the_message_of_an_attempt_without_a_pulse_goes_back(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    class Task(base.FairTask):
        name = "tests.silent"
        ignore_result = True

        def _take(self, *_: Any) -> Any:
            raise HeartbeatSilent

    monkeypatch.setattr(base, "wired", lambda: None)
    monkeypatch.setattr(base, "_delivery", lambda _: world.lease(world.submit(world.user())))
    Task.bind(Celery("tests", set_as_current=False, broker="memory://"))
    with pytest.raises(Reject) as rejected:
        Task()()
    assert rejected.value.requeue


def test_progress_is_written_with_the_first_beat_of_a_phase_and_then_with_the_renewals(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[tuple[str, int, int] | None] = []
    beaten = Event()

    def beat(*arguments: Any) -> Pulse:
        told.append(arguments[-1])
        beaten.set()
        return Pulse.GO_ON

    monkeypatch.setattr(heartbeat, "PHASE_SECONDS", 0.01)
    monkeypatch.setattr(heartbeat, "beat", beat)
    delivery = world.running(world.user())
    with Heartbeat(world.uow, Service.ANALYSIS, delivery, world.policy, seconds=3600) as heart:
        for phase in ("fetching", "parsing"):
            for done in range(3):
                heart.checkpoint(phase, done, 3)
                assert beaten.wait(60)  # a first beat of the phase; none follows within the hour
            beaten.clear()
        wait_for(lambda: len(told) == 2, "the beats of both phases")
    assert [one and one[0] for one in told] == ["fetching", "parsing"]


def test_progress_within_a_phase_goes_with_the_renewals(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(heartbeat, "PHASE_SECONDS", 0.01)
    delivery = world.running(world.user())
    with Heartbeat(UnitOfWork(world.uow.engine), Service.ANALYSIS, delivery, world.policy, seconds=0.02) as heart:
        for done in (1, 2):
            heart.checkpoint("parsing", done, 2)
            wait_for(
                lambda done=done: (
                    world.rows("SELECT progress FROM analyses")[0]["progress"]
                    == {"phase": "parsing", "done": done, "total": 2}
                ),
                "the progress to be written",
            )
