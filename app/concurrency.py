"""Lanes: a process serves few expensive requests at once and refuses further ones quickly, so others get through."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field

from app import process_metrics
from app.errors import Busy, Message, TooManyRequests

RETRY_SECONDS = 2


@dataclass
class Lane:
    """At most `places` requests at once, and limits for one client and for each of the `others`.

    what: for messages, in the plural; waiting: requests that may wait for a place, `patience` seconds each; client:
    places of one client, and as many of its requests may wait; others: limits by the kind of a further key; name: for
    the metrics, if `what` is not enough.
    """

    what: str
    places: int
    client: int
    waiting: int = 0
    patience: float = 0
    others: Mapping[str, int] = field(default_factory=dict)
    name: str | None = None
    _taken: Counter[tuple[str, str]] = field(default_factory=Counter)
    _queued: Counter[str] = field(default_factory=Counter)
    _changed: threading.Condition = field(default_factory=threading.Condition)

    def __post_init__(self) -> None:
        name = self.name or str(self.what)
        process_metrics.lane_places.labels(name).inc(self.places)
        self._gauge = process_metrics.lane_taken.labels(name)

    @contextmanager
    def place(self, client: str, *, patience: float | None = None, **keys: str) -> Iterator[None]:
        """Hold a place.  patience: seconds, for a request that occupies its thread in any case and is not counted.

        Raises: TooManyRequests if the client uses its share, Busy if all places are taken.
        """
        self.enter(client, patience=patience, **keys)
        try:
            yield
        finally:
            self.leave(client, **keys)

    def enter(self, client: str, *, patience: float | None = None, **keys: str) -> None:
        """Take a place, which `leave` with the same keys gives back, in any thread.  Raises: as `place`."""
        wanted = _keys(client, keys)
        with self._changed:
            if self._full(wanted) and not self._wait(client, wanted, patience):
                raise self._refusal(client)
            self._taken.update(wanted)
            self._gauge.inc()

    def leave(self, client: str, **keys: str) -> None:
        """Give a place back."""
        with self._changed:
            self._taken.subtract(_keys(client, keys))
            self._taken += Counter()  # keys without a place are dropped
            self._gauge.dec()
            self._changed.notify_all()

    def _wait(self, client: str, wanted: list[tuple[str, str]], patience: float | None) -> bool:
        if patience is not None:
            return self._changed.wait_for(lambda: not self._full(wanted), patience)
        if self._queued.total() >= self.waiting or self._queued[client] >= self.client:
            return False
        self._queued[client] += 1
        try:
            return self._changed.wait_for(lambda: not self._full(wanted), self.patience)
        finally:
            self._queued.subtract([client])
            self._queued += Counter()

    def _full(self, wanted: list[tuple[str, str]]) -> bool:
        return any(self._taken[key] >= self._limit(key[0]) for key in wanted)

    def _limit(self, kind: str) -> int:
        return {"all": self.places, "client": self.client, **self.others}[kind]

    def _refusal(self, client: str) -> Busy | TooManyRequests:
        if self._taken["client", client] >= self.client:
            return TooManyRequests(
                Message(
                    "You have %(most)s %(what)s under way; wait for one of them.", most=self.client, what=self.what
                ),
                retry_after=RETRY_SECONDS,
            )
        return Busy(
            Message("Too many %(what)s at once; try again in a moment.", what=self.what), retry_after=RETRY_SECONDS
        )


def _keys(client: str, keys: Mapping[str, str]) -> list[tuple[str, str]]:
    return [("all", ""), ("client", client), *keys.items()]
