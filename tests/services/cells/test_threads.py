"""How many threads wait for a database that does not answer, and for one that does."""

from __future__ import annotations

import threading
from collections import deque
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, suppress
from dataclasses import dataclass, field

import pytest

from app.errors import Unavailable
from app.services.cells.threads import MOST, SILENT_SECONDS, TRIES, WAITING, CellThreads, SilentError

THREADS = 32


@dataclass
class Load:
    """Requests that come evenly, at times that are given.  waiting: the step at which each fails."""

    threads: CellThreads = field(init=False)
    now: float = 0.0
    waiting: deque[tuple[int, ExitStack]] = field(default_factory=deque)

    def __post_init__(self) -> None:
        self.threads = CellThreads(clock=lambda: self.now, pause=self._pause)

    def _pause(self, _: threading.Condition, seconds: float) -> None:
        self.now += seconds  # nothing is answered meanwhile

    def asks(self, step: int, rate: int, lasts: int) -> int:
        """Let one request come, and those fail that began `lasts` steps before.  Returns: how many hold a thread."""
        self.now = step / rate
        while self.waiting and self.waiting[0][0] <= step:
            with pytest.raises(TimeoutError), self.waiting.popleft()[1]:
                raise TimeoutError
        with suppress(SilentError), ExitStack() as request:
            request.enter_context(self.threads.one())
            self.waiting.append((step + lasts, request.pop_all()))
        return len(self.waiting)


def test_requests_that_fail_one_after_the_other_are_no_answers() -> None:
    """Ten requests come evenly in a second; each holds its thread for five seconds and then fails."""
    load = Load()
    held = [load.asks(step, 10, 50) for step in range(300)]
    assert max(held[:50]) == MOST
    assert max(held[100:]) == TRIES
    for _, request in load.waiting:
        request.close()
    assert not load.threads.is_silent


@pytest.mark.parametrize("rate", [100, 1000])
def test_a_database_that_has_just_answered_holds_no_more_threads_than_others(rate: int) -> None:
    load = Load()
    for step in range(10):  # each is answered before the next one comes
        load.now = (step - 10) / rate
        with load.threads.one():
            pass
    held = [load.asks(step, rate, 5 * rate) for step in range(4 * rate)]
    assert max(held) == MOST


def test_a_slow_request_beside_others_that_are_answered_makes_no_cell_silent() -> None:
    now = [0.0]
    threads = CellThreads(clock=lambda: now[0])
    with suppress(TimeoutError), threads.one():
        now[0] = 9.0
        with threads.one():
            now[0] = 10.0
        raise TimeoutError
    assert not threads.is_silent


def test_many_at_once_after_a_slow_request_wait_for_their_turn() -> None:
    """Nothing was answered for ten seconds, because nothing was asked."""
    now = [0.0]
    threads, full, go_on = CellThreads(clock=lambda: now[0]), threading.Semaphore(0), threading.Event()
    waits = threading.Semaphore(0)

    def pause(changed: threading.Condition, seconds: float) -> None:
        assert seconds == SILENT_SECONDS
        waits.release()
        changed.wait()

    threads.pause = pause

    def ask() -> None:
        with threads.one():
            full.release()
            assert go_on.wait(60)

    with ThreadPoolExecutor(THREADS) as pool, threads.one():
        now[0] = 10.0
        answers = [pool.submit(ask) for _ in range(THREADS - 1)]
        for _ in range(MOST - 1):
            assert full.acquire(timeout=60)
        for _ in range(THREADS - MOST):
            assert waits.acquire(timeout=60)
        assert not full.acquire(blocking=False)
        go_on.set()
        for one in answers:
            one.result(60)


def test_those_that_wait_for_their_turn_are_refused_when_the_database_turns_out_to_be_away() -> None:
    now, waits = [0.0], threading.Event()
    threads = CellThreads(TRIES + 1, lambda: now[0])

    def pause(changed: threading.Condition, _: float) -> None:
        waits.set()
        assert changed.wait(60)

    def ask() -> None:
        with threads.one():
            pass

    threads.pause = pause
    with ThreadPoolExecutor(1) as pool, ExitStack() as others:
        for _ in range(TRIES):
            others.enter_context(threads.one())
        with suppress(TimeoutError), threads.one():
            late = pool.submit(ask)
            assert waits.wait(60)
            now[0] = 5.0
            raise TimeoutError
        assert isinstance(late.exception(60), SilentError)


def test_who_waits_for_somebody_else_holds_no_thread() -> None:
    now = [0.0]
    threads = CellThreads(1, lambda: now[0])
    with threads.one() as held:
        with threads.let_go(held):
            now[0] = 60.0
            with threads.one():
                pass
        assert threads._held == 1
        now[0] = 60.5
        held.is_answered = False
    assert threads._held == 0
    assert not threads.is_silent  # it has waited for half a second


def test_who_comes_back_to_a_silent_database_is_refused() -> None:
    threads = CellThreads()
    with ExitStack() as others:

        def ask() -> None:
            with threads.one() as held, threads.let_go(held):
                for _ in range(TRIES):
                    others.enter_context(threads.one())
                threads.is_silent = True

        with pytest.raises(Unavailable):
            ask()
        assert (threads._held, threads.is_silent) == (TRIES, True)
    assert threads._held == 0


class Slow:
    """A cell that answers, one request after the other.  held: all of its threads but the last one."""

    def __init__(self, held: ExitStack) -> None:
        self.now, self.waits = 0.0, threading.Semaphore(0)
        self.threads = CellThreads(clock=lambda: self.now, pause=self._pause)
        for _ in range(MOST - 1):
            held.enter_context(self.threads.one())

    def _pause(self, changed: threading.Condition, seconds: float) -> None:
        assert seconds <= SILENT_SECONDS
        self.waits.release()
        changed.wait()

    def ask(self) -> None:
        with self.threads.one():
            pass

    def asking(self, pool: ThreadPoolExecutor, count: int) -> list[Future[None]]:
        """Requests that have found all threads taken."""
        found = [pool.submit(self.ask) for _ in range(count)]
        for _ in found:
            assert self.waits.acquire(timeout=60)
        return found

    def answers(self, at: float) -> None:
        self.now = at
        with self.threads._changed:
            self.threads._answered = at
            self.threads._changed.notify_all()


def test_a_cell_that_is_slow_for_long_leaves_threads_to_the_others() -> None:
    """Whoever waits gives up after a second."""
    with ThreadPoolExecutor(THREADS) as pool, ExitStack() as held:
        slow = Slow(held)
        with slow.threads.one():
            slow.answers(SILENT_SECONDS)
            waiting = slow.asking(pool, WAITING)
            with pytest.raises(SilentError):
                slow.ask()
            slow.answers(2 * SILENT_SECONDS)
            assert [type(one.exception(60)) for one in waiting] == [SilentError] * WAITING
        slow.ask()


def test_a_burst_may_wait_again_once_a_thread_was_free() -> None:
    with ThreadPoolExecutor(THREADS) as pool, ExitStack() as held:
        slow = Slow(held)
        with slow.threads.one():
            slow.answers(2 * SILENT_SECONDS)
        with slow.threads.one():
            burst = slow.asking(pool, THREADS - MOST)
        for one in burst:
            one.result(60)
