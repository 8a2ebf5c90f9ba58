"""Copy what the jobs of an account have into another cell, in batches, while the account works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from app.store.cells import contents, histories, words
from app.store.cells.contents import JobRow
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

    places: requests of the account -> their ids in the target; placed: those that are there, and not only to come.
    """

    jobs: set[UUID] = field(default_factory=set)
    events: set[int] = field(default_factory=set)
    places: dict[int, int] = field(default_factory=dict)
    placed: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class _Left:
    """What is not there yet.  jobs: ended ones; requests: all of the account, ascending."""

    jobs: Sequence[JobRow]
    events: Sequence[int]
    requests: Sequence[int]


def copy_contents(source: UnitOfWork, target: UnitOfWork, shape: Shapes, user_id: UUID) -> Copied:
    """Copy until few jobs are left.  May be repeated: existing rows stay."""
    copied = Copied()
    for _ in range(ROUNDS):
        with source.begin() as tx:
            left = _left(tx, user_id, copied)
        with target.begin() as tx:
            _reserve(tx, left, copied)
        for events in _parts(left.events, EVENTS):
            with source.begin() as tx:
                taken = contents.read_events(tx, user_id, events)
            with target.begin() as tx:
                contents.put_events(tx, shape, taken)
        for jobs in _parts(left.jobs, JOBS):
            _copy_jobs(source, target, shape, jobs, copied)
        copied.events.update(left.events)
        if len(left.jobs) <= FEW:
            break
    _copy_words(source, target, shape, user_id)
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


def _copy_jobs(source: UnitOfWork, target: UnitOfWork, shape: Shapes, jobs: Sequence[JobRow], copied: Copied) -> None:
    ids = [job.id for job in jobs]
    _copy_lists(source, target, shape, ids)
    with source.begin() as tx:
        records = contents.read_records(tx, ids)
    requests = [job.request for job in jobs if job.request is not None and job.is_payer]
    with target.begin() as tx:
        contents.put_records(tx, shape, records, {one: copied.places[one] for one in requests})
    copied.jobs.update(ids)
    copied.placed.update(requests)


@dataclass(frozen=True, slots=True)
class Rest:
    """What has come since, by table.  placed: requests that are there and still the account's."""

    left: _Left
    placed: Sequence[int]
    events: JsonRows
    lists: dict[str, JsonRows]
    records: dict[str, JsonRows]


def read_rest(tx: Tx, user_id: UUID, copied: Copied) -> Rest:
    """Read what has come since, in the transaction that holds the account."""
    left = _left(tx, user_id, copied)
    jobs = [job.id for job in left.jobs]
    placed = [one for one in left.requests if one in copied.placed]
    lists = contents.read_lists(tx, contents.digests(tx, jobs))
    return Rest(left, placed, contents.read_events(tx, user_id, left.events), lists, contents.read_records(tx, jobs))


def put_rest(tx: Tx, shape: Shapes, rest: Rest, copied: Copied) -> None:
    """Insert it, in the transaction in which the account arrives."""
    _reserve(tx, rest.left, copied)
    contents.put_events(tx, shape, rest.events)
    contents.put_lists(tx, shape, rest.lists)
    contents.put_records(tx, shape, rest.records, {})


def _left(tx: Tx, user_id: UUID, copied: Copied) -> _Left:
    jobs = contents.jobs(tx, user_id)
    events = contents.event_ids(tx, [job.id for job in jobs])
    return _Left(
        [job for job in jobs if not job.is_unfinished and job.id not in copied.jobs],
        [one for one in events if one not in copied.events],
        [job.request for job in jobs if job.request is not None],
    )


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
