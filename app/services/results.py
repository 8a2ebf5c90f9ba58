"""Read the result of an analysis: its tests and its files, page by page."""

from __future__ import annotations

import base64
import binascii
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol
from uuid import UUID

from sqlalchemy import Row

from app.errors import Conflict, InvalidInput
from app.services.browse import check_visible
from app.store import analyses, codebases, requests, results
from app.store.results import TestFilter
from app.store.unit_of_work import Tx, UnitOfWork
from app.store.users import Account

PAGE, MOST = 100, 1000  # rows of a page: by default, at most


@dataclass(frozen=True, slots=True)
class Page:
    """rows: tests by path and line; next: cursor of the page after."""

    rows: list[dict[str, Any]]
    next: str | None


class Within(Protocol):
    """What knows where the tests of a filter are (app/services/outline.py)."""

    def behind(self, file: int, most: int) -> Sequence[int]:
        """Ordinals of the files that hold the next `most` tests."""


def page(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    wanted: TestFilter,
    *,
    cursor: str | None = None,
    limit: int = PAGE,
    within: Within | None = None,
    now: datetime,
) -> Page:
    """One page of tests.  within: says which files hold it; without, files are read until it is full.

    Raises: NotFound, Conflict while the analysis is not completed, InvalidInput for a broken cursor.
    """
    after = _read_cursor(cursor)
    with uow.begin() as tx:
        check_completed(tx, job_id, viewer, now=now)
        if within is None:
            rows = results.page(tx, job_id, wanted, after=after, most=limit + 1)
        else:
            rows = results.part(tx, job_id, wanted, within.behind(after[0], limit + 1), after=after, most=limit + 1)
    last = rows[limit - 1] if len(rows) > limit else None
    return Page(
        [{"file": row.path, **row.test} for row in rows[:limit]],
        _cursor(last.ordinal, last.position) if last else None,
    )


def size(uow: UnitOfWork, job_id: UUID, viewer: Account | None) -> int:
    """Tests of a completed analysis; 0 while there are none.  Raises: NotFound for what the viewer may not see."""
    with uow.begin() as tx:
        check_visible(tx, job_id, viewer)
        record = analyses.find(tx, job_id)
    return record.total_tests or 0 if record else 0


def check_completed(tx: Tx, job_id: UUID, viewer: Account | None, *, now: datetime) -> Row[Any]:
    """The record, for who may see the result of an analysis; notes the look.  Raises: NotFound, Conflict."""
    check_visible(tx, job_id, viewer)
    record = analyses.find(tx, job_id)
    if record is None or record.status != "completed":
        raise Conflict(_no_result(record.status if record else "running"))
    codebases.viewed(tx, record.codebase_id, now=now)
    return record


@dataclass(frozen=True, slots=True)
class FilePage:
    """items: file, framework, tests (how many), skipped, hints; next: as of Page; total: of all pages."""

    items: list[dict[str, Any]]
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
    with uow.begin() as tx:
        check_completed(tx, job_id, viewer, now=now)
        after, _ = _read_cursor(cursor)
        rows, total = results.listed(tx, job_id, path=path, about=about, after=after, most=limit + 1)
    items = [
        {"file": r.path, "framework": r.framework, "tests": r.tests, "skipped": r.skipped, "hints": r.hints}
        for r in rows[:limit]
    ]
    return FilePage(items, _cursor(rows[limit - 1].ordinal, 0) if len(rows) > limit else None, total)


def asked_for(uow: UnitOfWork, job_id: UUID, account: Account | None) -> bool:
    """Whether this job is in the account's history, so that it may cancel it."""
    if account is None:
        return False
    with uow.begin() as tx:
        return account.is_operator or requests.asked(tx, job_id, account.user_id)


def _no_result(status: str) -> str:
    return "The analysis has no result yet" if status == "running" else f"The analysis {status}, so it has no tests"


def _cursor(ordinal: int, position: int) -> str:
    return base64.urlsafe_b64encode(f"{ordinal}.{position}".encode()).decode()


def _read_cursor(cursor: str | None) -> tuple[int, int]:
    if not cursor:
        return 0, 0
    try:
        ordinal, position = base64.urlsafe_b64decode(cursor.encode()).decode().split(".")
        return int(ordinal), int(position)
    except (ValueError, binascii.Error) as error:
        raise InvalidInput(
            "The cursor is not one of ours", errors=[{"pointer": "/cursor", "detail": "allowed is `next` of a page"}]
        ) from error
