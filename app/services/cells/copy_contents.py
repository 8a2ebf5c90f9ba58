"""Copy what the jobs of an account have into another cell, in batches, while the account works."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeVar
from uuid import UUID

from app.store.cells import contents
from app.store.cells.rows import Shapes, Taken
from app.store.core.unit_of_work import Tx, UnitOfWork

T = TypeVar("T")

#: Of one transaction.
JOBS, EVENTS, LISTS = 100, 1000, 32
#: As few jobs as may be left for the last step, which holds the account; and how often the rest is copied at most.
FEW, ROUNDS = 10, 5


@dataclass(slots=True)
class Copied:
    """What is there already, by the ids that it has in the source."""

    jobs: set[UUID] = field(default_factory=set)
    events: set[int] = field(default_factory=set)


def copy_contents(source: UnitOfWork, target: UnitOfWork, shape: Shapes, user_id: UUID) -> Copied:
    """Copy until few jobs are left.  May be repeated; what is there stays."""
    copied = Copied()
    for _ in range(ROUNDS):
        with source.begin() as tx:
            left = _left(tx, user_id, copied)
        for events in _parts(left.events, EVENTS):
            with source.begin() as tx:
                taken = contents.read_events(tx, user_id, events)
            with target.begin() as tx:
                contents.put_events(tx, shape, taken)
        for jobs in _parts(left.jobs, JOBS):
            _copy_lists(source, target, shape, jobs)
            with source.begin() as tx:
                records = contents.read_records(tx, jobs)
            with target.begin() as tx:
                contents.put_records(tx, shape, records)
        copied.events.update(left.events)
        copied.jobs.update(left.jobs)
        if len(left.jobs) <= FEW:
            break
    return copied


@dataclass(frozen=True, slots=True)
class Rest:
    """What has come since, by table."""

    events: Taken
    lists: dict[str, Taken]
    records: dict[str, Taken]


def read_rest(tx: Tx, user_id: UUID, copied: Copied) -> Rest:
    """Read what has come since, in the transaction that holds the account."""
    left = _left(tx, user_id, copied)
    lists = contents.read_lists(tx, contents.digests(tx, left.jobs))
    return Rest(contents.read_events(tx, user_id, left.events), lists, contents.read_records(tx, left.jobs))


def put_rest(tx: Tx, shape: Shapes, rest: Rest) -> None:
    """Insert it, in the transaction in which the account arrives."""
    contents.put_events(tx, shape, rest.events)
    contents.put_lists(tx, shape, rest.lists)
    contents.put_records(tx, shape, rest.records)


@dataclass(frozen=True, slots=True)
class _Left:
    jobs: Sequence[UUID]
    events: Sequence[int]


def _left(tx: Tx, user_id: UUID, copied: Copied) -> _Left:
    jobs = contents.jobs(tx, user_id)
    events = contents.event_ids(tx, [job.id for job in jobs])
    return _Left(
        [job.id for job in jobs if not job.is_unfinished and job.id not in copied.jobs],
        [one for one in events if one not in copied.events],
    )


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
