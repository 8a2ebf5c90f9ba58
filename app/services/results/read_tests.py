"""Read the tests of an analysis, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol
from uuid import UUID

from app.domain.inventories import Checked, Test
from app.services.jobs.visibility import check_visible, read_result
from app.services.results import cursors
from app.store.accounts.users import Account
from app.store.analyses import analyses
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.results import checks, results
from app.store.results.checks import ChecksRow
from app.store.results.results import TestFilter, TestRow

PAGE, MOST = 100, 1000  # rows of a page: default, maximum


class TestInFile(NamedTuple):
    """A test and the path of its file.  checked: what it checks, None where it is not known or was not asked for."""

    file: str
    test: Test
    checked: Checked | None = None


@dataclass(frozen=True, slots=True)
class TestsPage:
    """A page of tests, by path and line.  next: cursor of the next page."""

    tests: list[TestInFile]
    next: str | None


class Within(Protocol):
    """Where the tests of a filter are (app/services/results/outline.py)."""

    def behind(self, file: int, most: int) -> Sequence[int]:
        """Ordinals of the files that contain the next `most` tests."""


def page(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    wanted: TestFilter,
    *,
    cursor: str | None = None,
    limit: int = PAGE,
    within: Within | None = None,
    with_checks: bool = False,
    now: datetime,
) -> TestsPage:
    """One page of tests.  within: which files contain it; without it, files are read until the page is full.

    with_checks: what each test checks, if the filter names one file.
    Raises: NotFound, Conflict while the analysis has not completed, InvalidInput for a broken cursor.
    """
    after = cursors.read(cursor)

    def fetch(tx: Tx) -> tuple[list[TestRow], list[ChecksRow]]:
        if within is None:
            rows = results.page(tx, job_id, wanted, after=after, most=limit + 1)
        else:
            rows = results.part(tx, job_id, wanted, within.behind(after[0], limit + 1), after=after, most=limit + 1)
        return rows, checks.of_file(tx, job_id, wanted.file) if with_checks and wanted.file is not None else []

    rows, checked = read_result(uow, job_id, viewer, fetch, now=now)
    known = {row.position: row.checks for row in checked}
    last = rows[limit - 1] if len(rows) > limit else None
    return TestsPage(
        [TestInFile(row.path, row.test, known.get(row.position)) for row in rows[:limit]],
        cursors.write(last.ordinal, last.position) if last else None,
    )


def size(uow: UnitOfWork, job_id: UUID, viewer: Account | None) -> int:
    """The number of tests of a completed analysis; 0 before that.  Raises: NotFound if the viewer may not see it."""
    with uow.begin() as tx:
        check_visible(tx, job_id, viewer)
        record = analyses.find(tx, job_id)
    return record.total_tests or 0 if record else 0
