"""List the files of an analysis, page by page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from app.services.jobs.visibility import read_result
from app.services.results import cursors
from app.services.results.read_tests import PAGE
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.results import result_files
from app.store.results.result_files import ListedFileRow


@dataclass(frozen=True, slots=True)
class ListedFile:
    """A file of a result.

    tests: number; skipped: why the file could not be read, so it has no tests; hints: what it is about.
    """

    file: str
    framework: str | None
    tests: int
    skipped: str | None
    hints: Sequence[str]


@dataclass(frozen=True, slots=True)
class FilePage:
    """A page of files.  next: cursor of the next page, None on the last; total: of all pages."""

    items: list[ListedFile]
    next: str | None
    total: int


def files(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    *,
    path: str | None = None,
    about: str | None = None,
    cursor: str | None = None,
    limit: int = PAGE,
    now: datetime,
) -> FilePage:
    """One page of files: those with tests, and those that could not be read.  Raises: as `page`."""

    def fetch(tx: Tx) -> tuple[list[ListedFileRow], int]:
        after, _ = cursors.read(cursor)
        return result_files.listed(tx, job_id, path=path, about=about, after=after, most=limit + 1)

    rows, total = read_result(uow, job_id, viewer, fetch, now=now)
    items = [ListedFile(row.path, row.framework, row.tests, row.skipped, row.hints) for row in rows[:limit]]
    return FilePage(items, cursors.write(rows[limit - 1].ordinal, 0) if len(rows) > limit else None, total)
