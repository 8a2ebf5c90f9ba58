"""The garbage collector during a run: facts and rows are trees, and each of its looks would walk all of them."""

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock
from typing import Final

#: objects that may be new before it looks; what honest runs leave behind has no cycles
SELDOM: Final = 200_000


class _Runs:
    """Runs under way in this process, and the threshold from before the first of them."""

    lock = Lock()
    count = 0
    before = 0


@contextmanager
def rare_collections() -> Iterator[None]:
    """Let the collector look seldom until the last run that asked for it has ended."""
    with _Runs.lock:
        if not _Runs.count:
            _Runs.before = gc.get_threshold()[0]
            gc.set_threshold(max(_Runs.before, SELDOM) if _Runs.before else 0)  # 0: it is switched off already
        _Runs.count += 1
    try:
        yield
    finally:
        with _Runs.lock:
            _Runs.count -= 1
            if not _Runs.count:
                gc.set_threshold(_Runs.before)
