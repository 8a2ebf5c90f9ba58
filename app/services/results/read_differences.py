"""Read what two results differ in, to be compared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Row

from app.services.jobs.visibility import check_completed
from app.store import results
from app.store.unit_of_work import UnitOfWork
from app.store.users import Account


class File(NamedTuple):
    """One file of a result.  tests: its rows; skipped: why it could not be read, and then no tests."""

    path: str
    blob_id: str
    tests: Sequence[Mapping[str, Any]]
    skipped: str | None


class Sides(NamedTuple):
    """Files of two analyses, without those that are alike, each to be read once, one side after the other.

    unchanged: how many tests are in files that are alike.
    """

    before: Iterator[File]
    after: Iterator[File]
    unchanged: int


@contextmanager
def sides(uow: UnitOfWork, job_id: UUID, other_id: UUID, viewer: Account | None, *, now: datetime) -> Iterator[Sides]:
    """Two analyses as far as they differ, to be read inside.

    Raises: NotFound, Conflict while one of them is not completed.
    """
    with uow.begin() as tx:
        for one in (job_id, other_id):
            check_completed(tx, one, viewer, now=now)
        unchanged = results.same(tx, job_id, other_id)
        before, after = (map(_file, results.different(tx, *pair)) for pair in ((job_id, other_id), (other_id, job_id)))
        yield Sides(before, after, unchanged)


def _file(row: Row[Any]) -> File:
    return File(row.path, row.blob_id or "", row.tests or [], row.skipped)
