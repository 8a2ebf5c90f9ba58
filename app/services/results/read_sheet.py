"""Read a result for a person: counts of everything, and one sheet of tests, file by file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import groupby
from uuid import UUID

from app.domain.inventories import Test
from app.services.jobs.visibility import read_result
from app.services.results.outline import Outline, Tally
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.results import result_files, results
from app.store.results.result_files import SkippedFile
from app.store.results.results import TestFilter, TestRow

SIZE = 100  # tests on a sheet
PATH = "path"


@dataclass(frozen=True, slots=True)
class FileOnSheet:
    """The tests of one file that are on the sheet, in order; hints: what the file is about."""

    path: str
    hints: list[str]
    tests: list[Test]


@dataclass(frozen=True, slots=True)
class TestSheet:
    """One sheet of tests under a filter.

    number, of: which sheet of how many; before: tests on earlier sheets; total: tests on all of them; tallies: numbers
    of tests of each kind; directories: as of the outline; skipped: files that could not be read.
    """

    files: list[FileOnSheet]
    number: int
    of: int
    before: int
    total: int
    tallies: Sequence[Tally]
    directories: Mapping[str, int]
    skipped: list[SkippedFile]

    @property
    def shown(self) -> int:
        """How many tests are on it."""
        return sum(len(file.tests) for file in self.files)


def read_sheet(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    wanted: TestFilter,
    outline: Outline,
    *,
    number: int = 1,
    sort: str = PATH,
    now: datetime,
) -> TestSheet:
    """The sheet of this number, or the last one if there are fewer.  outline: of this result and filter.

    sort: path, which is by path and line, name, status or framework; all but the first read every test of the filter.
    Raises: NotFound, Conflict.
    """
    of = max(1, -(-outline.total // SIZE))
    before = (min(number, of) - 1) * SIZE
    part = outline.part(before, SIZE)

    def fetch(tx: Tx) -> tuple[list[TestRow], dict[str, list[str]], list[SkippedFile]]:
        if sort == PATH:
            rows = results.part(tx, job_id, wanted, part.files, skip=part.skip, most=SIZE)
        else:
            rows = results.sorted_part(tx, job_id, wanted, outline.files, sort, skip=before, most=SIZE)
        return rows, results.hints(tx, job_id, [row.ordinal for row in rows]), result_files.skipped(tx, job_id)

    rows, hints, skipped = read_result(uow, job_id, viewer, fetch, now=now)
    files = [
        FileOnSheet(path, hints[path], [row.test for row in tests])
        for path, tests in groupby(rows, lambda row: row.path)
    ]
    return TestSheet(
        files, before // SIZE + 1, of, before, outline.total, outline.tallies, outline.directories, skipped
    )
