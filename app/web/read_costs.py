"""What a read may cost: a bucket for each client, and a lane for clients that read much at once."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from threading import Lock
from uuid import UUID

from flask import current_app

from app.errors import Message
from app.services.results import outline, read_tests
from app.services.results.outline import Outline
from app.store.results import TestFilter
from app.store.users import Account
from app.web import auth, rate_limits
from app.web.concurrency import Lane
from app.web.context import utc_now, wired
from app.web.read_buckets import Buckets

READS = "fairlane reads"
LIGHT = 5_000  # tests; a result up to this size is read within about ten milliseconds
PER_UNIT = 1_000  # tests that a large read reads for one token of the bucket
CLIENT, WAITING, PATIENCE = 1, 6, 2.0
EXPORTS, EXPORTS_OF_CLIENT = 8, 2  # exports written at once; each occupies a thread for as long as its reader takes
EXPORT_PATIENCE = 60.0  # seconds that an export waits for its next rows, once it has begun
MOST_REMEMBERED = 1_000_000  # files of all outlines together, 8 MB
MOST_COMPARED = 10_000  # pairs of documents, 10 MB


@dataclass
class Reads:
    """The state of one process."""

    buckets: Buckets
    heavy: Lane
    exports: Lane = field(default_factory=lambda: Lane(Message("exports"), EXPORTS, EXPORTS_OF_CLIENT))
    _outlines: OrderedDict[tuple[UUID, TestFilter], Outline] = field(default_factory=OrderedDict)
    _compared: OrderedDict[tuple[UUID, UUID], Mapping[str, int]] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    @classmethod
    def of(cls, *, per_minute: int, heavy: int) -> Reads:
        """heavy: concurrent large reads."""
        return cls(Buckets(per_minute), Lane(Message("large reads"), heavy, CLIENT, WAITING, PATIENCE))

    def remembered(self, key: tuple[UUID, TestFilter]) -> Outline | None:
        """The outline of a result under a filter, which never changes."""
        with self._lock:
            if key in self._outlines:
                self._outlines.move_to_end(key)
            return self._outlines.get(key)

    def remember(self, key: tuple[UUID, TestFilter], found: Outline) -> None:
        """Keep it, and drop the least recently used ones."""
        with self._lock:
            self._outlines[key] = found
            while sum(1 + len(one.files) for one in self._outlines.values()) > MOST_REMEMBERED:
                self._outlines.popitem(last=False)

    def changes(self, before: UUID, after: UUID) -> Mapping[str, int] | None:
        """How many behaviours changed between two documents, which never change, by group."""
        with self._lock:
            return self._compared.get((before, after))

    def remember_changes(self, before: UUID, after: UUID, totals: Mapping[str, int]) -> None:
        """Keep it, and drop the oldest one."""
        with self._lock:
            self._compared[before, after] = totals
            while len(self._compared) > MOST_COMPARED:
                self._compared.popitem(last=False)


def reads() -> Reads:
    """The object of this process."""
    found: Reads = current_app.extensions[READS]
    return found


def count_reads() -> None:
    """Runs before each request that reads.  Raises: TooManyRequests."""
    if auth.only_reads():
        charge(auth.client())


def charge(client: str, cost: int = 1) -> None:
    """Count reads of a client, and note what is left.  Raises: TooManyRequests."""
    buckets = reads().buckets
    with rate_limits.refusals(rate_limits.READS, buckets.per_minute):
        remaining = buckets.take(client, cost)
    rate_limits.note(rate_limits.READS, buckets.per_minute, remaining)


def behaviours(count: int) -> AbstractContextManager[None]:
    """Read specifications, which are read whole: 1,000 behaviours take 20 ms.  Raises: as `large`."""
    return _charged(count, LIGHT // 10, PER_UNIT // 4)


def large(tests: int) -> AbstractContextManager[None]:
    """Read this many tests.  Raises: TooManyRequests, Busy."""
    return _charged(tests, LIGHT, PER_UNIT)


@contextmanager
def priced(job_id: UUID) -> Iterator[None]:
    """Calculate the price of a specification, which counts like a read of that size.  Raises: as `heavy`."""
    with behaviours(read_tests.size(wired().uow, job_id, auth.viewer())):
        yield


@contextmanager
def heavy(*job_ids: UUID) -> Iterator[None]:
    """Read results of any size: large ones cost more, and only a few are read at once.

    Raises: NotFound if the client may not see one; as `large`.
    """
    with large(sum(read_tests.size(wired().uow, job_id, auth.viewer()) for job_id in job_ids)):
        yield


@contextmanager
def _charged(units: int, light: int, per_unit: int) -> Iterator[None]:
    """light: up to this many are one request; per_unit: tests for each further token."""
    if units <= light:
        yield
        return
    client = auth.client()
    charge(client, units // per_unit)
    with reads().heavy.place(client):
        yield


def outlined(job_id: UUID, viewer: Account | None, wanted: TestFilter) -> Outline:
    """The outline, read once per process.  Raises: as `heavy`; Conflict while the analysis has not completed."""
    key = (job_id, wanted)
    found = reads().remembered(key)
    if found is None:
        with heavy(job_id):
            found = outline.outline(wired().uow, job_id, viewer, wanted, now=utc_now())
        reads().remember(key, found)
    return found
