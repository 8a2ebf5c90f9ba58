"""An inventory as a file: CSV, JSON lines, Markdown, JUnit XML; streamed, a thousand rows at a time."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import groupby
from typing import Any
from uuid import UUID
from xml.sax.saxutils import quoteattr

from flask import Response
from testlist.reports.csv_rows import COLUMNS, csv_line

from app.concurrency import Lane
from app.services.results import read_tests
from app.services.results.read_tests import TestInFile
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.web.core import auth
from app.web.core.context import wired
from app.web.core.schemas import TestsQuery
from app.web.core.visible_text import quoted, visible
from app.web.limits.read_costs import EXPORT_PATIENCE, LIGHT, PER_UNIT, exported, reads

ExportRow = dict[str, Any]
ExportRows = Iterator[ExportRow]

#: Of the CSV: new ones come last.
CELLS = (*COLUMNS, "check_count", "cannot_fail")
#: Why a test of a JUnit export has no outcome, unless its own source skips it.
NOT_RUN = "not run: inventory only"


@dataclass(frozen=True, slots=True)
class Form:
    """Converts rows to text."""

    media_type: str
    suffix: str
    write: Callable[[ExportRows], Iterator[str]]


def respond(form: Form, job_id: UUID, viewer: Account | None, query: TestsQuery) -> Response:
    """Stream the rows.  Raises: NotFound, Conflict, TooManyRequests, Busy."""
    # a generator runs after the request's context has gone, so it takes what it needs now
    client, own = auth.client(), reads()
    tests = read_tests.size(wired().uow, job_id, viewer)
    lane = own.heavy if tests > LIGHT and query.narrowed() else None
    rows = _read(wired().uow, job_id, viewer, query, lambda: _turn(lane, client))
    all_rows, leave = exported(rows, client, tests // PER_UNIT)
    response = Response(form.write(all_rows), content_type=f"{form.media_type}; charset=utf-8")
    response.call_on_close(leave)
    response.headers["Content-Disposition"] = f'attachment; filename="tests-{job_id}.{form.suffix}"'
    return response


def _turn(lane: Lane | None, client: str) -> AbstractContextManager[None]:
    """Rows of a filter may be far apart in a large result; the rest of an export is cheap."""
    return lane.place(client, patience=EXPORT_PATIENCE) if lane else nullcontext()


def _read(
    uow: UnitOfWork,
    job_id: UUID,
    viewer: Account | None,
    query: TestsQuery,
    turn: Callable[[], AbstractContextManager[None]],
) -> ExportRows:
    cursor, left = query.cursor, query.limit
    while True:
        size = min(read_tests.MOST, left or read_tests.MOST)
        with turn():
            page = read_tests.page(uow, job_id, viewer, query.filter(), cursor=cursor, limit=size, now=uow.now())
        yield from map(test_json, page.tests)
        left, cursor = left and left - len(page.tests), page.next
        if cursor is None or left == 0:
            return


def test_json(found: TestInFile) -> dict[str, Any]:
    """The test as the engine wrote it, with its file first."""
    return {"file": found.file, **found.test}


def as_csv(rows: ExportRows) -> Iterator[str]:
    """RFC 4180 with a header line; cells that look like formulas are turned into text."""
    yield csv_line(CELLS)
    for row in rows:
        yield csv_line(_cell(row.get(column)) for column in CELLS)


def as_ndjson(rows: ExportRows) -> Iterator[str]:
    """One JSON object per line, as `fairlane inventory` prints it."""
    for row in rows:
        yield json.dumps(row) + "\n"


def as_markdown(rows: ExportRows) -> Iterator[str]:
    """A heading per file, a line per test."""
    for file, tests in groupby(rows, lambda row: row["file"]):
        yield f"## {quoted(file)}\n\n"
        for test in tests:
            path = " › ".join(quoted(part) for part in (*test["suites"], test["name"]))  # noqa: RUF001
            yield f"- {path} ({test['status']}, line {test['line']})\n"
        yield "\n"


def as_junit(rows: ExportRows) -> Iterator[str]:
    """One suite per file.  Tests are listed, not run, so each is skipped: one without an outcome would have passed."""
    yield '<?xml version="1.0" encoding="UTF-8"?>\n<testsuites name="fairlane">\n'
    for file, found in groupby(rows, lambda row: row["file"]):
        tests = list(found)
        counts = f'tests="{len(tests)}" skipped="{len(tests)}" failures="0" errors="0"'
        yield f" <testsuite name={_attribute(file)} {counts}>\n"
        yield from (_testcase(file, test) for test in tests)
        yield " </testsuite>\n"
    yield "</testsuites>\n"


def _testcase(file: str, test: ExportRow) -> str:
    classname = ".".join(test["suites"]) or file
    opening = f"  <testcase classname={_attribute(classname)} name={_attribute(test['name'])}"
    opening += f' file={_attribute(file)} line="{test["line"]}" status="notrun"'
    status = _attribute(test["status"])
    why = status if test["status"] in {"skipped", "todo"} else _attribute(NOT_RUN)
    inside = f'<skipped message={why}/><properties><property name="status" value={status}/></properties>'
    return f"{opening}>{inside}</testcase>\n"


def _cell(value: object) -> str:
    if isinstance(value, int | None):
        return "" if value is None else str(value).lower()
    return visible(" > ".join(map(str, value)) if isinstance(value, list) else str(value))


def _attribute(text: str) -> str:
    return quoteattr(visible(text))


FORMS = {
    "csv": Form("text/csv", "csv", as_csv),
    "ndjson": Form("application/x-ndjson", "jsonl", as_ndjson),
    "markdown": Form("text/markdown", "md", as_markdown),
    "junit": Form("application/xml", "xml", as_junit),
}
