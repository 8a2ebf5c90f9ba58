"""What a read may cost: a bucket for each client, and a lane for clients that read much at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from uuid import UUID

from flask import current_app

from app.errors import Message
from app.remembered import Remembered
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
MOST_OUTLINED = 1_000_000  # files of all outlines together, 8 MB
MOST_RENDERED = 16_000_000  # bytes of all sheets together, compressed: some 3,000 full ones
MOST_COMPARED = 10_000  # pairs of documents, 10 MB


@dataclass
class Reads:
    """The state of one process."""

    buckets: Buckets
    heavy: Lane
    exports: Lane = field(default_factory=lambda: Lane(Message("exports"), EXPORTS, EXPORTS_OF_CLIENT))
    outlines: Remembered[tuple[UUID, TestFilter], Outline] = field(
        default_factory=lambda: Remembered(MOST_OUTLINED, lambda one: 1 + len(one.files))
    )
    #: pages of tests by job, filters with sort and view, number and language
    sheets: Remembered[tuple[UUID, tuple[tuple[str, str], ...], int, str], bytes] = field(
        default_factory=lambda: Remembered(MOST_RENDERED, lambda one: 500 + len(one))  # with its key
    )
    #: how many behaviours changed between two documents, by group
    changes: Remembered[tuple[UUID, UUID], Mapping[str, int]] = field(default_factory=lambda: Remembered(MOST_COMPARED))

    @classmethod
    def of(cls, *, per_minute: int, heavy: int) -> Reads:
        """heavy: concurrent large reads."""
        return cls(Buckets(per_minute), Lane(Message("large reads"), heavy, CLIENT, WAITING, PATIENCE))


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
    found = reads().outlines.get(key)
    if found is None:
        with heavy(job_id):
            found = outline.outline(wired().uow, job_id, viewer, wanted, now=utc_now())
        reads().outlines.keep(key, found)
    return found
