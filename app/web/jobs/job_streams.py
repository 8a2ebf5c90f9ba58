"""Live progress: one thread per process reads the watched jobs; streams wait for its results."""

from __future__ import annotations

import itertools
import json
import threading
import time
import zlib
from collections.abc import Iterator
from contextlib import AbstractContextManager, suppress
from dataclasses import dataclass, field, replace
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.concurrency import Lane
from app.domain.jobs import Job
from app.errors import Message, NotFound, Problem
from app.services.jobs import follow
from app.services.jobs.disclose import OwnRequest, Reader, disclosed
from app.services.policy import Policy
from app.store.core.unit_of_work import UnitOfWork
from app.web.jobs.job_json import job_json

#: Per process, each with a thread that waits; of all visitors without an account, so that some are left to owners of
#: jobs; and per client, which needs one for each open page.
MOST_STREAMS = 256
MOST_STREAMS_OF_VISITORS = 192
MOST_STREAMS_EACH = 8
STREAM_SECONDS = 25.0  # then the browser reconnects by itself; that of a process that stops is over at once
HEARTBEAT_SECONDS = 5.0  # detects clients that have gone
POLL_SECONDS = 0.35
REREAD_EVERY = 4  # polls; a place in the queue changes without an event of the job
RETRY_MS = 2000

NOBODY = Reader()
#: The reader of the view that the streams of a job share; each stream limits it to its own reader.
ALL = Reader(sees_all=True)

log = structlog.get_logger()


class StreamOver(Exception):  # noqa: N818 - not a failure
    """The client has to ask again: the job is gone, or this process stops."""


@dataclass(frozen=True, slots=True)
class SeenJob:
    """A job at one moment.  id: of its newest event and of its content, so that a client may resume after either."""

    id: str
    job: Job
    read_at: float  # monotonic, before the query

    @classmethod
    def of(cls, event_id: int, job: Job, read_at: float) -> SeenJob:
        """Make a view of a job with an id that changes whenever the client would see a difference."""
        content = json.dumps(job_json(job), sort_keys=True)
        return cls(f"{event_id}-{zlib.crc32(content.encode()):08x}", job, read_at)

    @property
    def is_final(self) -> bool:
        """Whether nothing follows."""
        return self.job.is_final


@dataclass(slots=True)
class _Watched:
    """A job that somebody watches.

    changed: notified whenever the job was read again, for its own watchers only; is_gone: the job is not here any more.
    """

    changed: threading.Condition
    watchers: int = 0
    stamp: follow.Stamp | None = None
    newest: SeenJob | None = None
    is_gone: bool = False


@dataclass
class Live:
    """The state of one process.

    The thread starts with the first watcher and ends with the last, so no fork inherits it.
    """

    uow: UnitOfWork
    policy: Policy
    stream_seconds: float = STREAM_SECONDS
    places: Lane = field(
        default_factory=lambda: Lane(
            Message("live streams"), MOST_STREAMS, MOST_STREAMS_EACH, others={"visitors": MOST_STREAMS_OF_VISITORS}
        )
    )
    _jobs: dict[UUID, _Watched] = field(default_factory=dict)
    _lock: threading.RLock = field(default_factory=threading.RLock)
    _thread: threading.Thread | None = None
    _is_over: bool = False

    def __post_init__(self) -> None:
        self._idle = threading.Condition(self._lock)

    def place(self, client: str, *, is_visitor: bool) -> AbstractContextManager[None]:
        """Hold a place for a stream.  Raises: TooManyRequests, Busy."""
        return self.places.place(client, visitors="all") if is_visitor else self.places.place(client)

    def open(self, job_id: UUID, last_id: str | None, reader: Reader = NOBODY) -> Stream:
        """Start to watch a job; the caller holds a place.  reader: who receives the stream.

        Raises: NotFound.
        """
        seen, own = self._look(job_id), follow.own_request(self.uow, job_id, reader)
        with self._lock:
            if self._thread is None:
                thread = threading.Thread(target=self._run, name="live", daemon=True)
                thread.start()  # it may fail; it looks for watchers only once this one is there
                self._thread = thread
            job = self._jobs.setdefault(job_id, _Watched(threading.Condition(self._lock)))
            job.watchers += 1
            job.is_gone = False
        return Stream(self, job_id, seen, last_id, reader, own)

    def close(self, job_id: UUID) -> None:
        """Stop watching a job."""
        with self._lock:
            self._jobs[job_id].watchers -= 1
            if not self._jobs[job_id].watchers:
                del self._jobs[job_id]
                self._idle.notify_all()

    def end(self) -> None:
        """End all streams, those that are opened from now on as well."""
        with self._lock:
            self._is_over = True
            for job in self._jobs.values():
                job.changed.notify_all()

    def next(self, job_id: UUID, after: SeenJob, seconds: float) -> SeenJob | None:
        """Wait for a state of the job that is later than and different from `after`; None if none came in time.

        Raises: StreamOver, if the job was deleted or has moved to another cell with its account, too.
        """

        def fresh() -> SeenJob | None:
            if self._is_over or self._jobs[job_id].is_gone:
                raise StreamOver
            newest = self._jobs[job_id].newest
            later = newest is not None and newest.read_at > after.read_at and newest.id != after.id
            return newest if later else None

        with self._lock:
            return self._jobs[job_id].changed.wait_for(fresh, seconds)

    def ended(self, job_id: UUID, reader: Reader) -> Job:
        """The job at its end, with the reader's bill, which the watchers do not share."""
        return follow.snapshot(self.uow, job_id, self.policy, reader=reader, now=self.uow.now())[1]

    def _look(self, job_id: UUID) -> SeenJob:
        read_at = time.monotonic()
        event_id, job = follow.snapshot(self.uow, job_id, self.policy, reader=ALL, now=self.uow.now())
        return SeenJob.of(event_id, job, read_at)

    def _run(self) -> None:
        for turn in itertools.count():
            with self._lock:
                if not self._jobs:
                    self._thread = None
                    return
                known = {job_id: job.stamp for job_id, job in self._jobs.items()}
            try:
                self._read(known, turn % REREAD_EVERY)
            except (SQLAlchemyError, Problem) as error:  # streams continue, because the database comes back
                log.warning("live.read_failed", error=type(error).__name__)
            except Exception:  # without this thread all streams of the process would stand still
                log.exception("live.read_raised")
            with self._lock:
                self._idle.wait_for(lambda: not self._jobs, POLL_SECONDS)

    def _read(self, known: dict[UUID, follow.Stamp | None], part: int) -> None:
        """Read what has changed, and one part of all others: not all at once, or requests would wait for it."""
        for job_id, stamp in follow.stamps(self.uow, known).items():
            if stamp == known[job_id] and job_id.int % REREAD_EVERY != part:
                continue
            try:
                seen = self._look(job_id)
            except NotFound:  # the others must be read all the same
                seen = None
            with self._lock:
                if (job := self._jobs.get(job_id)) is not None:
                    job.stamp, job.newest, job.is_gone = stamp, seen, seen is None
                    job.changed.notify_all()


@dataclass
class Stream:
    """One client's server-sent events: `state`, `progress`, and `final` at the end, each with the job."""

    live: Live
    job_id: UUID
    first: SeenJob
    last_id: str | None
    reader: Reader
    own: OwnRequest | None
    _closed: bool = False

    def close(self) -> None:
        """Give the place back; the server calls it however the stream ended."""
        if not self._closed:
            self._closed = True
            self.live.close(self.job_id)

    def __iter__(self) -> Iterator[str]:
        """Events until the job ends, is gone, or the time of the stream or of the process is over.

        Unless it has ended the browser asks again: for one that is gone it gets 404, or the cell that has it now.
        """
        yield f"retry: {RETRY_MS}\n\n"
        with suppress(NotFound, StreamOver):
            yield from self._events()

    def _events(self) -> Iterator[str]:
        until = time.monotonic() + self.live.stream_seconds
        seen, said = self.first, self.last_id
        if seen.id != said or seen.is_final:
            yield self._event(seen, None)
        while not seen.is_final and (left := until - time.monotonic()) > 0:
            newer = self.live.next(self.job_id, seen, min(HEARTBEAT_SECONDS, left))
            if newer is None:
                yield ": still here\n\n"
            else:
                yield self._event(newer, seen)
                seen = newer

    def _event(self, seen: SeenJob, before: SeenJob | None) -> str:
        name = "final" if seen.is_final else "progress" if before and _only_progress(seen, before) else "state"
        job = self.live.ended(self.job_id, self.reader) if seen.is_final else disclosed(seen.job, self.reader, self.own)
        return f"event: {name}\nid: {seen.id}\ndata: {json.dumps(job_json(job))}\n\n"


def _only_progress(seen: SeenJob, before: SeenJob) -> bool:
    if seen.job.progress == before.job.progress:  # an event that the job does not show, as a wish to cancel it
        return False
    return replace(seen.job, progress=None) == replace(before.job, progress=None)
