"""Receive what waits on another broker: batch by batch into the tables, while publishers and workers go on.

    with Connection("redis://localhost") as old, closing(psycopg2.connect(…)) as connection:
        source = RedisSource(old, ["billing"])          # or KombuSource, for any other transport of kombu
        received = receive(source, Store(connection))

The command `celery -A APP durable receive URL` does this with the address and the queues of an app.

A batch is acknowledged at the source after its commit here, so nothing is lost when one side or this process ends in
between: what was not acknowledged comes again, and a task that has a message on its queue gets no second one.  A
message whose task has run here meanwhile, and one without a task id, comes twice then.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from time import monotonic
from typing import Any, NamedTuple, Protocol

from celery_durable.errors import OwnTables

from .store import Store

__all__ = ["Received", "Source", "Store", "Summary", "receive"]


class Received(NamedTuple):
    """A message of the source.

    message: as kombu's, undecoded, with `body`, `headers` and `properties`; handle: by which its source settles it;
    why_not: a sentence for one that its source does not let go, or None.
    """

    queue: str
    message: Any
    handle: Any
    why_not: str | None = None


class Source(Protocol):
    """Another broker.  queues: what is taken."""

    queues: Sequence[str]

    @property
    def name(self) -> str:
        """Its own name, the same for whoever connects to it."""

    def take(self) -> list[Received]:
        """Take the next batch; an empty one after a moment in which nothing came."""

    def settle(self, batch: list[Received]) -> None:
        """Acknowledge messages that are stored."""

    def give_back(self, batch: list[Received]) -> None:
        """Put messages back that cannot be stored."""

    def is_own(self, backend: int, schema: int) -> bool:
        """Whether it reads the broker's tables in the schema of this oid, in the database that this backend serves."""

    def left(self) -> dict[str, int]:
        """Where messages are that were taken and not settled, and how many; empty if they come back by themselves."""


@dataclass(slots=True)
class Summary:
    """What became of the messages.

    queues: numbers of the acknowledged ones, repeats included; refused: (queue, task id, why) of those that stay.
    """

    queues: Counter[str] = field(default_factory=Counter)
    refused: list[tuple[str, str | None, str]] = field(default_factory=list)


def receive(
    source: Source,
    store: Store,
    *,
    wait_seconds: float | None = 10,
    report: Callable[[Summary], None] | None = None,
    is_over: Callable[[], bool] = lambda: False,
) -> Summary:
    """Receive until nothing has come for so many seconds; None: without end; 0: until nothing is there.

    report: called after each batch; is_over: asked before each, to end earlier.  What cannot be stored goes back to its
    queue at the end.  Raises AlreadyReceived, OwnTables, and what source and database do, with a note of what was taken
    and is not settled; a second call goes on.
    """
    summary = Summary()
    stay: list[Received] = []
    with store.receiving(source.name, source.queues), _noting(source):
        if source.is_own(*store.place()):
            raise OwnTables
        last = monotonic()
        try:
            while not is_over():
                batch = source.take()
                if batch:
                    stay += _receive(batch, source, store, summary)
                    last = monotonic()
                    if report is not None:
                        report(summary)
                elif wait_seconds is not None and monotonic() - last >= wait_seconds:
                    break
        finally:
            if stay:
                source.give_back(stay)
    return summary


@contextmanager
def _noting(source: Source) -> Iterator[None]:
    """Add to an error what stays aside at the source: a batch that was taken has left its queue."""
    try:
        yield
    except Exception as error:
        with suppress(Exception):  # of the source, which may be the reason
            for place, number in source.left().items():
                error.add_note(f"{number} messages are on {place} of the source, and the next run begins with them")
        raise


def _receive(batch: list[Received], source: Source, store: Store, summary: Summary) -> list[Received]:
    """Store a batch and settle it.  -> those that stay."""
    refused = _put(store, batch)
    source.settle([one for place, one in enumerate(batch) if place not in refused])
    _count(summary, batch, refused)
    return [batch[place] for place in refused]


def _put(store: Store, batch: list[Received]) -> dict[int, str]:
    """Store a batch.  -> why not, by place in the batch."""
    refused = {place: one.why_not for place, one in enumerate(batch) if one.why_not is not None}
    places = [place for place in range(len(batch)) if place not in refused]
    by_store = store.put([(batch[place].queue, batch[place].message) for place in places])
    return refused | {places[number]: why for number, why in by_store.items()}


def _count(summary: Summary, batch: list[Received], refused: dict[int, str]) -> None:
    for place, one in enumerate(batch):
        if place in refused:
            summary.refused.append((one.queue, one.message.headers.get("id"), refused[place]))
        else:
            summary.queues[one.queue] += 1
