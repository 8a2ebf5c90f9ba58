"""Read the differences of two results, for a comparison."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple, TypeVar
from uuid import UUID

from app.domain.inventories import Test
from app.services.jobs.visibility import check_completed
from app.store.accounts.users import Account
from app.store.core.reading import read_completed
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.results import results
from app.store.results.results import DifferentFileRow

R = TypeVar("R")


class File(NamedTuple):
    """One file of a result.  tests: its rows; skipped: why it could not be read, in which case it has no tests."""

    path: str
    blob_id: str
    tests: Sequence[Test]
    skipped: str | None


class Sides(NamedTuple):
    """The files of two analyses that differ, each to be read once, one side after the other.

    unchanged: how many tests are in equal files.
    """

    before: Iterator[File]
    after: Iterator[File]
    unchanged: int


def read_differences(
    uow: UnitOfWork,
    job_id: UUID,
    other_id: UUID,
    viewer: Account | None,
    compare: Callable[[Sides], R],
    *,
    now: datetime,
) -> R:
    """Compare the differing files of two analyses.  compare: reads them to the end, and may run in vain.

    Raises: NotFound, Conflict while one of them has not completed.
    """

    def check(tx: Tx) -> None:
        for one in (job_id, other_id):
            check_completed(tx, one, viewer, now=now)

    def fetch(tx: Tx, _: None) -> R:
        unchanged = results.same(tx, job_id, other_id)
        before, after = (map(_file, results.different(tx, *pair)) for pair in ((job_id, other_id), (other_id, job_id)))
        return compare(Sides(before, after, unchanged))

    return read_completed(uow, check, lambda _: (job_id, other_id), fetch)


def _file(row: DifferentFileRow) -> File:
    return File(row.path, row.blob_id or "", row.tests or [], row.skipped)
