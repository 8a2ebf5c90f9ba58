"""Inventories as the engine gives them."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from typing import Any

from app.store.analyses.inventories import FileRow


def a_test(
    name: str, *, line: int = 1, status: str = "active", suites: tuple[str, ...] = (), framework: str = "pytest"
) -> dict[str, Any]:
    """A test as the engine writes it."""
    return {
        "framework": framework, "suites": list(suites), "name": name, "line": line, "status": status,
        "kind": "test", "dynamic": False, "cases": None, "column": 1, "end_line": line,
    }  # fmt: skip


def file(
    path: str,
    *tests: dict[str, Any],
    skipped: str | None = None,
    hints: tuple[str, ...] = (),
    checks: tuple[dict[str, Any] | None, ...] = (),
) -> FileRow:
    blob_id = hashlib.sha1(path.encode(), usedforsecurity=False).hexdigest()
    return FileRow(path, blob_id, "pytest", tests, skipped, hints, checks)


def checked(*checks: dict[str, Any], subjects: tuple[str, ...] = ()) -> dict[str, Any]:
    """What a test checks, as it is stored."""
    return {"checks": list(checks), "subjects": list(subjects)}


def inventory() -> list[FileRow]:
    """Three files, one of which nobody could read."""
    return [
        file("tests/test_cart.py", a_test("test_adds", line=3), a_test("test_removes", line=9, status="skipped")),
        file("tests/unit/test_price.py", a_test("test_rounds", line=4, suites=("TestPrice",), status="xfail")),
        file("web/broken.test.js", skipped="syntax_error"),
    ]


def summary(files: list[FileRow]) -> dict[str, Any]:
    tests = [(f.path, t) for f in files for t in f.tests if t["kind"] != "subtest"]

    def tally(names: Iterator[str]) -> dict[str, int]:
        counts: dict[str, int] = {}
        for name in names:
            counts[name] = counts.get(name, 0) + 1
        return counts

    return {
        "files": len({path for path, _ in tests}),
        "suites": len({tuple(t["suites"]) for _, t in tests if t["suites"]}),
        "tests": len(tests),
        "by_status": tally(t["status"] for _, t in tests),
        "by_framework": tally(t["framework"] for _, t in tests),
        "by_directory": tally(path.rpartition("/")[0] or "." for path, _ in tests),
    }
