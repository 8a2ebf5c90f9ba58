"""Which threads ask the database in the meantime, once for each transaction."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager

from service_harness.application import Web
from sqlalchemy import event


@contextmanager
def transactions(web: Web) -> Iterator[list[str]]:
    """The names of the threads, in order."""
    found: list[str] = []

    def note(*_: object) -> None:
        found.append(threading.current_thread().name)

    event.listen(web.uow.engine, "checkout", note)
    try:
        yield found
    finally:
        event.remove(web.uow.engine, "checkout", note)
