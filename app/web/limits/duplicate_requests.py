"""Requests sent twice at once: a process handles one per key, and refuses the other before it costs anything."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import UUID

from app.errors import IdempotencyInFlight
from app.services.jobs.answers import Key

_answering: set[tuple[UUID, str]] = set()
_lock = threading.Lock()


@contextmanager
def only_one(user_id: UUID, key: Key[Any] | None) -> Iterator[None]:
    """Hold an Idempotency-Key while its request is handled.  Between processes, the accept's own lock does this.

    Otherwise the duplicates of a slow look-up would be refused as too many look-ups instead of as duplicates.
    Raises: IdempotencyInFlight.
    """
    if key is None:
        yield
        return
    mine = (user_id, key.name)
    with _lock:
        if mine in _answering:
            raise IdempotencyInFlight(retry_after=1)
        _answering.add(mine)
    try:
        yield
    finally:
        with _lock:
            _answering.discard(mine)
