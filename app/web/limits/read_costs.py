"""The cost of reads: a bucket for each client, and a lane for clients that read much at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, field
from hmac import compare_digest
from itertools import chain, islice
from typing import TypeVar
from uuid import UUID

from flask import current_app

from app import shared_table
from app.concurrency import Lane
from app.errors import Message, Unauthenticated
from app.lru_cache import LruCache, held_bytes
from app.services.results import outline, read_tests
from app.services.results.outline import Outline
from app.store.accounts.users import Account
from app.store.results.results import TestFilter
from app.web.core import auth, rate_limits, residence
from app.web.core.context import utc_now, wired
from app.web.limits import read_buckets
from app.web.limits.read_buckets import Buckets

T = TypeVar("T")
READS = "fairlane reads"
LIGHT = 5_000  # tests; a result up to this size is read within about ten milliseconds
PER_UNIT = 1_000  # tests that a large read reads for one token of the bucket
CLIENT, WAITING, PATIENCE = 1, 6, 2.0
SEARCH = 5  # tokens of a search for repositories: 3 ms among 200,000 by the index, 300 ms on a server without it
EXPORTS, EXPORTS_OF_CLIENT = 8, 2  # exports written at once; each occupies a thread for as long as its reader takes
EXPORT_PATIENCE = 60.0  # seconds that an export waits for its next rows, once it has begun
#: Bytes of all outlines together, of all sheets, compressed, and of how many behaviours changed between two documents.
MOST_OUTLINED, MOST_RENDERED, MOST_COMPARED = 8_000_000, 16_000_000, 8_000_000


@dataclass
class Reads:
    """The state of one process, but for the buckets, which all web processes of a host share."""

    buckets: Buckets
    heavy: Lane
    exports: Lane = field(default_factory=lambda: Lane(Message("exports"), EXPORTS, EXPORTS_OF_CLIENT))
    outlines: LruCache[tuple[UUID, TestFilter], Outline] = field(
        default_factory=lambda: LruCache(MOST_OUTLINED, held_bytes)
    )
    #: pages of tests by job, filters with sort and view, number and language
    sheets: LruCache[tuple[UUID, tuple[tuple[str, str], ...], int, str], bytes] = field(
        default_factory=lambda: LruCache(MOST_RENDERED, held_bytes)
    )
    #: how many behaviours changed between two documents, by group
    changes: LruCache[tuple[UUID, UUID], Mapping[str, int]] = field(
        default_factory=lambda: LruCache(MOST_COMPARED, held_bytes)
    )

    @classmethod
    def of(cls, *, per_minute: int, heavy: int) -> Reads:
        """Make the limits of this process.  heavy: concurrent large reads."""
        buckets = Buckets(per_minute, table=shared_table.table())
        return cls(buckets, Lane(Message("large reads"), heavy, CLIENT, WAITING, PATIENCE))


def reads() -> Reads:
    """The object of this process."""
    found: Reads = current_app.extensions[READS]
    return found


def identify_program() -> None:
    """Runs before each API request: an address is refused before the look-up once it sent many refused credentials.

    They have a bucket of their own, so visitors who read keep nobody of their address from using a token.  Tokens that
    were good before are looked up in any case, so neither do those who send bad ones.
    Raises: TooManyRequests, Unauthenticated.
    """
    if not auth.has_credentials():
        auth.identify_program()
        return
    secret, buckets = auth.own_token(), reads().buckets
    if not read_buckets.is_known(buckets, secret):
        _require_few_refused()
    try:
        auth.identify_program()
    except Unauthenticated:
        if residence.is_sent_here():
            raise
        read_buckets.found_refused(buckets, secret)
        charge(_refused())
        raise
    read_buckets.found_good(buckets, secret)


def is_secret(expected: str) -> bool:
    """Whether the request's token is this secret of the operator; it is compared only while tokens are looked up.

    One that was good is known only where it was sent from; guesses from elsewhere would otherwise have no end.
    A caller who gets False goes on with `identify_program`, which counts the guess.  Raises: TooManyRequests.
    """
    given, buckets = auth.own_token() or "", reads().buckets
    here = f"{auth.address()} {given}"
    if not (read_buckets.is_known(buckets, here) or read_buckets.is_known(buckets, given)):
        _require_few_refused()
    is_right = compare_digest(given.encode(), expected.encode())
    if is_right:
        read_buckets.found_good(buckets, here)
    return is_right


def _require_few_refused() -> None:
    """Check the address of the request.  Raises: TooManyRequests if it sent many refused credentials."""
    buckets = reads().buckets
    with rate_limits.refusals(rate_limits.READS, buckets.per_minute):
        buckets.require(_refused())


def _refused() -> str:
    return f"refused:{auth.address()}"


def count_reads() -> None:
    """Runs before each request, and counts it if it reads, or if it is a form that anybody may send.

    Raises: TooManyRequests.
    """
    if auth.only_reads() or auth.is_open():
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


def exported(pieces: Iterator[T], client: str, cost: int) -> tuple[Iterator[T], Callable[[], None]]:
    """Begin an export: its first piece is made before the answer begins, so that a Problem can still be answered.

    cost: tokens of the bucket.  Returns: the pieces; and what gives the place back, once the answer has been sent or
    given up, even if it never began.  Raises: TooManyRequests, Busy.
    """
    lane = reads().exports
    charge(client, cost)
    lane.enter(client)
    try:
        head = list(islice(pieces, 1))
    except BaseException:
        lane.leave(client)
        raise
    return chain(head, pieces), lambda: lane.leave(client)


@contextmanager
def searching(part: str) -> Iterator[None]:
    """Search all repositories for a part of an address; an empty one searches nothing.  Raises: as `large`."""
    if not part.strip():
        yield
        return
    client = auth.client()
    charge(client, SEARCH - 1)  # the request itself is counted
    with reads().heavy.place(client):
        yield


@contextmanager
def _charged(units: int, light: int, per_unit: int) -> Iterator[None]:
    """Charge a large read and hold a place for it.

    light: up to this many are one request; per_unit: tests for each further token.
    """
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
