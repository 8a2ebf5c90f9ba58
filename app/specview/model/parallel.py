"""Coroutines in a thread of their own, for a caller that knows nothing of them; stopped at once when it leaves."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import contextmanager
from itertools import islice
from threading import Thread
from typing import Any, TypeVar

#: A caller looks that often whether it is to stop.
TICK_SECONDS = 0.5

T = TypeVar("T")
R = TypeVar("R")


@contextmanager
def event_loop(close: Callable[[], Coroutine[Any, Any, None]]) -> Iterator[asyncio.AbstractEventLoop]:
    """A running loop; at the end everything running in it is cancelled, `close` is awaited, and its thread is over."""
    loop = asyncio.new_event_loop()
    thread = Thread(target=loop.run_forever, name="model calls", daemon=True)
    thread.start()
    try:
        yield loop
    finally:
        asyncio.run_coroutine_threadsafe(_cancel_all(close), loop).result()
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


def as_done(
    loop: asyncio.AbstractEventLoop, work: Callable[[T], Awaitable[R]], items: Iterable[T], *, ahead: int
) -> Iterator[tuple[T, R] | None]:
    """Each item with what became of it, in the order of their ends; None now and then while nothing ends.

    items: taken in the caller's thread, `ahead` at most before their results are; an error of `work` comes up when
    all results that were there with it have been given out.
    """
    source, under_way = iter(items), dict[Future[R], T]()
    while True:
        for item in islice(source, ahead - len(under_way)):
            under_way[asyncio.run_coroutine_threadsafe(_awaited(work, item), loop)] = item
        if not under_way:
            return
        done, _ = wait(under_way, TICK_SECONDS, FIRST_COMPLETED)
        if not done:
            yield None
        for future in sorted(done, key=lambda one: one.exception() is not None):
            yield under_way.pop(future), future.result()


async def _awaited(work: Callable[[T], Awaitable[R]], item: T) -> R:
    return await work(item)


async def _cancel_all(close: Callable[[], Coroutine[Any, Any, None]]) -> None:
    others = asyncio.all_tasks() - {asyncio.current_task()}
    for task in others:
        task.cancel()
    await asyncio.gather(*others, return_exceptions=True)
    await close()
