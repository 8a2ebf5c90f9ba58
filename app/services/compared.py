"""Read what two results differ in, to be compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import Row

from app.services.results import check_completed
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
    """Files of two analyses, by path, without those that are alike; unchanged: how many tests are in these."""

    before: list[File]
    after: list[File]
    unchanged: int


def sides(uow: UnitOfWork, job_id: UUID, other_id: UUID, viewer: Account | None, *, now: datetime) -> Sides:
    """Two analyses as far as they differ.  Raises: NotFound, Conflict while one of them is not completed."""
    with uow.begin() as tx:
        for one in (job_id, other_id):
            check_completed(tx, one, viewer, now=now)
        before, after = results.different(tx, job_id, other_id), results.different(tx, other_id, job_id)
        unchanged = results.same(tx, job_id, other_id)
    return Sides([_file(row) for row in before], [_file(row) for row in after], unchanged)


def _file(row: Row[Any]) -> File:
    return File(row.path, row.blob_id or "", row.tests or [], row.skipped)
