"""Copy what the jobs of an account have into another cell, in batches, while the account works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from app.services.cells.rename_words import Renames, rename_ahead
from app.store.cells import contents, copies, departures, histories, words
from app.store.cells.contents import JobRow
from app.store.cells.copies import CopyRow
from app.store.cells.rows import JsonRows, Shapes
from app.store.core.unit_of_work import Tx, UnitOfWork

T = TypeVar("T")

#: Of one transaction.
JOBS, EVENTS, LISTS = 100, 1000, 32
#: As few jobs as may be left for the last step, which holds the account; and how often the rest is copied at most.
FEW, ROUNDS = 10, 5


@dataclass(slots=True)
class Copied:
    """What the target has already, by the ids of the source.

    places: requests of the account -> their ids in the target; placed: those that are there, and not only to come;
    renames: of the account's own words, which come with it; unfinished: jobs of before the words were copied, so that
    all that their prices count on are there.
    """

    jobs: set[UUID] = field(default_factory=set)
    events: set[int] = field(default_factory=set)
    places: dict[int, int] = field(default_factory=dict)
    placed: set[int] = field(default_factory=set)
    renames: Renames = field(default_factory=list)
    unfinished: frozenset[UUID] = frozenset()


@dataclass(frozen=True, slots=True)
class _Left:
    """What is not there yet.

    seen: jobs with anything that travels; unfinished: those of them that have not ended; jobs: ended ones;
    accepts: jobs that the account pays for; requests: all of the account, ascending.
    """

    seen: Sequence[UUID]
    unfinished: Sequence[UUID]
    jobs: Sequence[JobRow]
    accepts: Sequence[UUID]
    requests: Sequence[int]


def copy_contents(source: UnitOfWork, target: UnitOfWork, shape: Shapes, user_id: UUID, seen: set[UUID]) -> Copied:
    """Copy until few jobs are left.  May be repeated: existing rows stay.  seen: gets the jobs that are copied."""
    copied = Copied()
    for _ in range(ROUNDS):
        with source.begin() as tx:
            left = _left(tx, user_id, copied)
        seen.update(left.seen)
        with target.begin() as tx:
            _reserve(tx, left, copied)
        for jobs in _parts(left.jobs, JOBS):
            _copy_jobs(source, target, shape, user_id, jobs, copied)
        if len(left.jobs) <= FEW:
            break
    with source.begin() as tx:
        copied.unfinished = frozenset(job.job_id for job in departures.unfinished(tx, user_id))
    _copy_words(source, target, shape, user_id)
    copied.renames = rename_ahead(source, target, user_id)
    return copied


def _copy_words(source: UnitOfWork, target: UnitOfWork, shape: Shapes, user_id: UUID) -> None:
    with source.begin() as tx:
        repositories = words.codebases(tx, user_id)
    after, number = "", words.MOST
    while repositories.number and number == words.MOST:
        with source.begin() as tx:
            taken, after = words.read(tx, user_id, after)
        with target.begin() as tx:
            words.put_words(tx, shape, repositories, taken)
        number = taken.number


def send_events(source: UnitOfWork, there: Tx, shape: Shapes, user_id: UUID, copied: Copied) -> frozenset[UUID]:
    """Insert the timelines of unfinished jobs, whose accept records come in this transaction, too; -> these jobs.

    If they had come before and the account did not, nothing would find those of a job that it does not have any more.
    """
    with source.begin() as tx:
        unfinished = _left(tx, user_id, copied).unfinished
        late = _events(tx, unfinished, copied)
    for events in _parts(late, EVENTS):
        with source.begin() as tx:
            taken = contents.read_events(tx, user_id, events)
        contents.put_events(there, shape, taken)
    copied.events.update(late)
    return frozenset(unfinished)


def _copy_jobs(
    source: UnitOfWork, target: UnitOfWork, shape: Shapes, user_id: UUID, jobs: Sequence[JobRow], copied: Copied
) -> None:
    ids = [job.id for job in jobs]
    _copy_lists(source, target, shape, ids)
    with source.begin() as tx:
        contents.take_snapshot(tx)
        records = contents.read_records(tx, ids)
        events = _events(tx, ids, copied)
        timelines = contents.read_events(tx, user_id, events)
    requests = [job.request for job in jobs if job.request is not None and job.is_payer]
    with target.begin() as tx:
        contents.put_records(tx, shape, records, {one: copied.places[one] for one in requests})
        contents.put_events(tx, shape, timelines)
    copied.events.update(events)
    copied.jobs.update(ids)
    copied.placed.update(requests)


@dataclass(frozen=True, slots=True)
class Rest:
    """What has come since, by table.

    placed: requests that are there and still the account's; accepts: of the other jobs that the account pays for;
    held: what the source has of the jobs.
    """

    left: _Left
    placed: Sequence[int]
    events: JsonRows
    accepts: JsonRows
    lists: dict[str, JsonRows]
    records: dict[str, JsonRows]
    held: Sequence[CopyRow]


def read_rest(tx: Tx, user_id: UUID, copied: Copied) -> Rest:
    """Read what has come since, in the transaction that holds the account."""
    left = _left(tx, user_id, copied)
    jobs = [job.id for job in left.jobs]
    placed = [one for one in left.requests if one in copied.placed]
    lists = contents.read_lists(tx, contents.digests(tx, jobs))
    events = contents.read_events(tx, user_id, _events(tx, left.seen, copied))
    accepts = contents.read_accepts(tx, user_id, left.accepts)
    records = contents.read_records(tx, jobs)
    return Rest(left, placed, events, accepts, lists, records, copies.found(tx, jobs, user_id))


def put_rest(tx: Tx, shape: Shapes, rest: Rest, copied: Copied) -> None:
    """Insert it, in the transaction in which the account arrives.  Raises: OvertakenError."""
    _reserve(tx, rest.left, copied)
    contents.put_lists(tx, shape, rest.lists)
    contents.put_records(tx, shape, rest.records, {})
    contents.put_events(tx, shape, rest.events)
    copies.hold(tx, rest.held)


def _left(tx: Tx, user_id: UUID, copied: Copied) -> _Left:
    jobs = contents.jobs(tx, user_id)
    seen = [job.id for job in jobs if job.travels]
    return _Left(
        seen,
        [job.id for job in jobs if job.travels and job.is_unfinished],
        [job for job in jobs if not job.is_unfinished and job.id not in copied.jobs],
        [job.id for job in jobs if job.is_payer and job.request not in copied.placed],
        [job.request for job in jobs if job.request is not None],
    )


def _events(tx: Tx, jobs: Sequence[UUID], copied: Copied) -> list[int]:
    """The events of these jobs that are not there."""
    return [one for one in contents.event_ids(tx, jobs) if one not in copied.events]


def _reserve(tx: Tx, left: _Left, copied: Copied) -> None:
    copied.places |= histories.new_places(tx, (one for one in left.requests if one not in copied.places))


def _copy_lists(source: UnitOfWork, target: UnitOfWork, shape: Shapes, jobs: Sequence[UUID]) -> None:
    with source.begin() as tx:
        listed = contents.digests(tx, jobs)
    for some in _parts(listed, LISTS):
        with target.begin() as tx:
            new = sorted(set(some) - contents.known(tx, some))
        if new:
            with source.begin() as tx:
                taken = contents.read_lists(tx, new)
            with target.begin() as tx:
                contents.put_lists(tx, shape, taken)


def _parts(given: Sequence[T], size: int) -> Iterator[Sequence[T]]:
    yield from (given[begin : begin + size] for begin in range(0, len(given), size))
