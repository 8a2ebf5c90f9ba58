"""Read the differences of two results, for a comparison."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import NamedTuple
from uuid import UUID

from app.domain.inventories import Test
from app.services.jobs.visibility import check_completed
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.results import results
from app.store.results.results import DifferentFileRow


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


@contextmanager
def sides(uow: UnitOfWork, job_id: UUID, other_id: UUID, viewer: Account | None, *, now: datetime) -> Iterator[Sides]:
    """The differing files of two analyses, to be read within the context.

    Raises: NotFound, Conflict while one of them has not completed.
    """
    with uow.begin() as tx:
        for one in (job_id, other_id):
            check_completed(tx, one, viewer, now=now)
        unchanged = results.same(tx, job_id, other_id)
        before, after = (map(_file, results.different(tx, *pair)) for pair in ((job_id, other_id), (other_id, job_id)))
        yield Sides(before, after, unchanged)


def _file(row: DifferentFileRow) -> File:
    return File(row.path, row.blob_id or "", row.tests or [], row.skipped)
