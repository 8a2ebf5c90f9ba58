"""A process's copy of the database's clock, whatever the host's own clock does."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from threading import Lock, Semaphore

import pytest
from sqlalchemy.exc import OperationalError

from app.store.core.clock import FRESH_SECONDS, Clock

BEGAN = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)
MILLISECOND = timedelta(milliseconds=1)


@dataclass
class World:
    """elapsed: seconds that have really passed; trips: how long the next answers take; ahead: of the host's clock."""

    elapsed: float = 1000.0
    ahead: timedelta = timedelta(0)
    trips: list[float] = field(default_factory=list)
    asked: int = 0
    is_away: bool = False
    told: list[timedelta] = field(default_factory=list)

    def real(self) -> datetime:
        return BEGAN + timedelta(seconds=self.elapsed)

    def ask(self) -> datetime:
        self.asked += 1
        if self.is_away:
            raise OperationalError("", None, Exception())
        trip = self.trips.pop(0) if self.trips else 0.0
        self.elapsed += trip / 2
        found = self.real()
        self.elapsed += trip / 2
        return found

    def clock(self) -> Clock:
        return Clock(self.ask, self.told.append, elapsed=lambda: self.elapsed, host=lambda: self.real() + self.ahead)


@dataclass
class Waited:
    """A lock; come: is released for each thread that is about to wait for it."""

    lock: Lock = field(default_factory=Lock)
    come: Semaphore = field(default_factory=lambda: Semaphore(0))

    def __enter__(self) -> None:
        self.come.release()
        self.lock.acquire()

    def __exit__(self, *_: object) -> None:
        self.lock.release()


@pytest.mark.parametrize("minutes", [-10, -5, 0, 5, 10])
def test_the_hosts_clock_decides_nothing_and_its_skew_is_told(minutes: int) -> None:
    world = World(ahead=timedelta(minutes=minutes), trips=[0.002])
    clock = world.clock()
    assert abs(clock.now() - world.real()) < MILLISECOND
    assert abs(clock.ahead - world.ahead) < 2 * MILLISECOND
    world.ahead -= timedelta(hours=1)  # somebody sets it
    world.elapsed += 10
    assert abs(clock.now() - world.real()) < MILLISECOND
    assert len(world.told) == 1


def test_the_database_is_asked_twice_a_minute_and_not_at_each_look() -> None:
    world = World()
    clock = world.clock()
    for _ in range(600):
        clock.now()
        world.elapsed += 0.1
    assert world.asked == 2
    assert world.told == [timedelta(0)] * 2


def test_of_slow_answers_the_quickest_counts() -> None:
    world = World(trips=[4.0, 0.5, 2.0, 0.004])
    clock = world.clock()
    assert abs(clock.now() - world.real()) < 3 * MILLISECOND
    assert world.asked == 4


def test_without_the_database_the_copy_goes_on_and_without_a_copy_nothing_is_said() -> None:
    world = World()
    clock = world.clock()
    clock.now()
    world.is_away = True
    world.elapsed += 10 * FRESH_SECONDS
    assert clock.now() == world.real()
    with pytest.raises(OperationalError):
        World(is_away=True).clock().now()


def test_whoever_waits_while_the_database_is_away_gives_up_with_who_asks_it() -> None:
    world, waiting = World(is_away=True), Waited()
    clock = world.clock()
    clock._reading = waiting  # type: ignore[assignment]  # a lock that counts its waiters
    with ThreadPoolExecutor(4) as pool:
        with waiting.lock:
            asking = [pool.submit(clock.now) for _ in range(4)]
            assert all(waiting.come.acquire(timeout=60) for _ in asking)
        errors = [one.exception(60) for one in asking]
    assert {type(error) for error in errors} == {OperationalError}
    assert world.asked == 1
    with pytest.raises(OperationalError):
        clock.now()
    assert world.asked == 2
    world.is_away = False
    assert clock.now() == world.real()
