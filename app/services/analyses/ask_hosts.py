"""Ask several Git hosts at once, each a few questions at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")

#: Concurrent questions to one host, and to all together.
PER_HOST, MOST = 4, 16


def ask_hosts(
    items: Mapping[str, Iterator[T]], ask: Callable[[T], R], expired: Callable[[], bool]
) -> Iterator[tuple[T, R]]:
    """Each item with its answer, as the answers arrive.  items: by host, read by the caller's thread only as needed.

    A slow host delays only its own items.  expired: no question is asked any more; pending answers are awaited.
    """
    waiting, busy = dict(items), Counter[str]()
    running: dict[Future[R], tuple[str, T]] = {}
    with ThreadPoolExecutor(MOST, thread_name_prefix="hosts") as threads:
        while True:
            for host, item in _next(waiting, busy, MOST - len(running), expired):
                running[threads.submit(ask, item)] = host, item
            if not running:
                return
            done, _ = wait(running, return_when=FIRST_COMPLETED)
            for future in done:
                host, item = running.pop(future)
                busy[host] -= 1
                yield item, future.result()


def _next(
    waiting: dict[str, Iterator[T]], busy: Counter[str], free: int, expired: Callable[[], bool]
) -> Iterator[tuple[str, T]]:
    """Up to `free` items, in turn from each host that has a place; hosts without further items are removed."""
    while free > 0 and (open_hosts := [host for host in waiting if busy[host] < PER_HOST]):
        for host in open_hosts[:free]:
            if expired():
                return
            if (item := next(waiting[host], None)) is None:
                del waiting[host]
                continue
            busy[host] += 1
            free -= 1
            yield host, item
