"""What tests check, kept beside them by content."""

from __future__ import annotations

import hashlib
from typing import Any
from uuid import UUID

import pytest

from app.services.results.outline import Tally
from app.store.analyses import inventories
from app.store.analyses.inventories import FileRow, written
from app.store.results import checks, results
from app.store.results.results import TestFilter
from tests.conftest import World

EQUAL = {"line": 2, "relation": "equal", "subject": "total", "expected": "3"}


def case(name: str, line: int = 1, **more: object) -> dict[str, object]:
    return {"name": name, "line": line, "suites": ["Cart"], "status": "active", "framework": "pytest", **more}


def known(*found: dict[str, Any]) -> dict[str, Any]:
    return {"checks": list(found), "subjects": ["shop.py:Cart"]}


def finished(world: World, *files: FileRow) -> UUID:
    user = world.user()
    delivery = world.running(user)
    world.finish(delivery, user, list(files))
    return delivery.job_id


def row(path: str, *found: dict[str, Any] | None, tests: tuple[dict[str, Any], ...] = (case("test_a"),)) -> FileRow:
    return FileRow(path, "1" * 40, "pytest", tests, None, (), found)


def kept(world: World, analysis: UUID, path: str, **narrowed: Any) -> list[Any]:
    with world.uow.begin() as tx:
        return [tuple(one) for one in checks.of_file(tx, analysis, path, **narrowed)]


def test_checks_are_kept_once_for_one_content_and_read_by_the_position_of_their_test(world: World) -> None:
    tests = (case("test_a"), case("test_b", 5), case("test_b", 9), case("test_c", 12))
    one = (known(EQUAL), known(), None, known(EQUAL | {"line": 13}))
    first = finished(world, row("a.py", *one, tests=tests))
    second = finished(world, row("a.py", *one, tests=tests), row("copy.py", *one, tests=tests))
    assert world.value("SELECT count(*) FROM file_inventories") == 1
    assert kept(world, first, "a.py") == kept(world, second, "copy.py") == list(enumerate(one, 1))
    assert kept(world, first, "a.py", suites=["Cart"], name="test_b") == [(2, known()), (3, None)]
    assert kept(world, first, "a.py", name="test_b") == kept(world, first, "b.py") == []


def test_a_file_of_before_checks_is_used_again_only_where_nothing_is_known(world: World) -> None:
    before, again = finished(world, row("a.py")), finished(world, row("a.py", None))
    assert world.value("SELECT count(*) FROM file_inventories") == 1
    after, other = finished(world, row("a.py", known(EQUAL))), finished(world, row("a.py", known()))
    assert world.value("SELECT count(*) FROM file_inventories WHERE checks IS NOT NULL") == 2
    assert [kept(world, one, "a.py") for one in (before, again, after, other)] == [
        [], [], [(1, known(EQUAL))], [(1, known())],
    ]  # fmt: skip


def test_a_row_without_checks_has_the_digest_of_before() -> None:
    tests = '[{"name":"test_a","line":1,"suites":["Cart"],"status":"active","framework":"pytest"}]'
    assert written(row("a.py")).tests == tests
    assert written(row("a.py", None)).digest == hashlib.sha256(f"pytest\n{tests}".encode()).digest()
    counted = row("a.py", tests=(case("test_a", check_count=1),))
    assert len({written(one).digest for one in (row("a.py"), counted, row("a.py", known(EQUAL)))}) == 3


def test_checks_that_no_longer_fit_are_not_known(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventories, "MOST_LETTERS", 250)
    found = [known(EQUAL)] * 5
    tests = tuple(case("test_a", line) for line in range(1, 6))
    analysis = finished(world, row("a.py", *found, tests=tests))
    assert [one for _, one in kept(world, analysis, "a.py")] == [known(EQUAL), known(EQUAL), None, None, None]


def test_what_postgresql_cannot_store_is_replaced_in_checks_too(world: World) -> None:
    analysis = finished(world, row("a.py", known({"relation": "equal", "subject": "'\x00'", "expected": "'\ud83d'"})))
    [(_, found)] = kept(world, analysis, "a.py")
    assert found["checks"] == [{"relation": "equal", "subject": "'\ufffd'", "expected": "'?'"}]


def test_tests_are_told_apart_by_whether_they_check_something(world: World) -> None:
    tests = (
        case("test_old"),
        case("test_some", 2, check_count=2),
        case("test_empty", 3, check_count=0, cannot_fail="empty"),
        case("test_doubt", 4, check_count=0),
        case("test_caught", 5, check_count=2, cannot_fail="ignored"),
    )
    analysis = finished(world, row("a.py", tests=tests))
    with world.uow.begin() as tx:
        found = {
            state: [one.test["name"] for one in results.part(tx, analysis, TestFilter(checks=state), [1], most=9)]
            for state in ("some", "none", "unknown")
        }
        outline = results.outline(tx, analysis, TestFilter(checks="none"))
    assert found == {
        "some": ["test_some"], "none": ["test_empty", "test_caught"], "unknown": ["test_old", "test_doubt"],
    }  # fmt: skip
    assert [(row.checks, row.tests, row.matching) for row in (Tally(**one) for one in outline.tallies)] == [
        ("none", 2, 2), ("some", 1, 0), ("unknown", 2, 0),
    ]  # fmt: skip
