"""What a cache keeps, and that the memory of its entries is what it says.

Outlines were counted by their files, and remembered prices by their tests, so small results counted as next to nothing:
the outlines of a web process could grow to a gigabyte where 8 MB were meant, and analyses without tests had no limit.
"""

from __future__ import annotations

import gc
import json
import tracemalloc
from array import array
from collections.abc import Callable
from itertools import accumulate
from uuid import uuid4

import pytest

from app.lru_cache import LruCache
from app.services.results.outline import Outline, Tally
from app.services.specifications import price
from app.store.results.results import TestFilter
from app.web.limits.read_costs import Reads

ENTRIES = 2_000
TALLY = {
    "framework": "pytest", "status": "active", "kind": "test", "conditional": False, "checks": "some", "tests": 3,
    "matching": 3,
}  # fmt: skip


def one_price(cache: LruCache, tests: int) -> None:
    cache.keep(uuid4(), (tests, 0, bytes(tests * price.SIZE)))


def one_outline(cache: LruCache, files: int) -> None:
    """Entries like those of the database, of which no two share a text."""
    tallies, directories = json.loads(json.dumps([[TALLY] * 4, {f"tests/{n}": n for n in range(min(files, 30))}]))
    counts = accumulate([3] * files)
    found = Outline([Tally(**row) for row in tallies], array("i", range(files)), array("i", counts), directories)
    cache.keep((uuid4(), TestFilter(q=uuid4().hex)), found)


def one_sheet(cache: LruCache, size: int) -> None:
    cache.keep((uuid4(), (("q", uuid4().hex), ("path", uuid4().hex)), 1, "en"), bytes(size))


def one_change(cache: LruCache, most: int) -> None:
    cache.keep((uuid4(), uuid4()), {name: most + n for n, name in enumerate(("added", "removed", "changed"), 1000)})


def emptied(name: str) -> LruCache:
    """A new cache of the web process, as the process makes it."""
    if name == "prices":
        return LruCache(price._remembered._most, price._remembered._size)
    return getattr(Reads.of(per_minute=1, heavy=1), name)


KINDS = [
    ("prices", one_price, 0), ("prices", one_price, 50), ("outlines", one_outline, 0), ("outlines", one_outline, 1),
    ("outlines", one_outline, 300), ("sheets", one_sheet, 10), ("sheets", one_sheet, 2_500), ("changes", one_change, 1),
]  # fmt: skip


@pytest.mark.parametrize(("name", "one", "size"), KINDS)
def test_an_entry_takes_no_more_memory_than_it_is_counted_with(
    name: str, one: Callable[[LruCache, int], None], size: int
) -> None:
    cache = emptied(name)
    gc.collect()
    tracemalloc.start()
    try:
        for _ in range(ENTRIES):
            one(cache, size)
        gc.collect()
        taken = tracemalloc.get_traced_memory()[0]
    finally:
        tracemalloc.stop()
    assert taken <= cache._kept <= 2 * taken


def test_the_least_recently_used_values_go_first() -> None:
    cache: LruCache[str, int] = LruCache(3)
    for name in "abc":
        cache.keep(name, 1)
    cache.get("a")
    cache.keep("d", 1)
    assert [name for name in "abcd" if cache.get(name)] == ["a", "c", "d"]


def test_a_value_that_is_too_large_is_not_kept_and_drops_no_other() -> None:
    cache: LruCache[str, int] = LruCache(10, lambda _, value: value)
    cache.keep("a", 4)
    cache.keep("b", 4)
    cache.keep("c", 11)
    assert (cache.get("a"), cache.get("b"), cache.get("c")) == (4, 4, None)


def test_a_value_that_is_kept_again_counts_once() -> None:
    cache: LruCache[str, int] = LruCache(10, lambda _, value: value)
    for value in (4, 7, 6):
        cache.keep("a", value)
    cache.keep("b", 4)
    assert (cache.get("a"), cache.get("b")) == (6, 4)


def test_an_entry_that_grew_is_taken_off_with_what_it_was_counted_with() -> None:
    sizes = {"a": 4, "b": 4}
    cache: LruCache[str, int] = LruCache(10, lambda key, _: sizes[key])
    for key in "ab":
        cache.keep(key, 1)
    sizes["a"] = 9
    cache.keep("a", 1)
    assert [cache.get(key) for key in "ab"] == [1, None]
    sizes |= {"a": 100, "c": 5}
    cache.keep("c", 1)
    assert [cache.get(key) for key in "ac"] == [None, 1]
    sizes["d"] = 6
    cache.keep("d", 1)
    assert [cache.get(key) for key in "cd"] == [None, 1]
