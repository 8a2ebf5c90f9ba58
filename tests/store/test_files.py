"""Files of a result: what they are about, kept by content; and what of which sort there is."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy.exc import IntegrityError
from testlist.reports.hints import MOST

from app.services.results.outline import Tally
from app.store.analyses.inventories import FileRow
from app.store.results import result_files, results
from app.store.results.results import TestFilter
from tests.conftest import World


def case(name: str, line: int = 1, **more: object) -> dict[str, object]:
    return {"name": name, "line": line, "suites": [], "status": "active", "framework": "pytest", **more}


def finished(world: World, *files: FileRow) -> UUID:
    user = world.user()
    delivery = world.running(user)
    world.finish(delivery, user, list(files))
    return delivery.job_id


def row(path: str, *hints: str, blob: str = "1", tests: tuple[dict[str, Any], ...] = (case("test_a"),)) -> FileRow:
    return FileRow(path, blob * 40, "pytest", tests, None, hints)


def listed(world: World, analysis: UUID, path: str | None = None, about: str | None = None) -> dict[str, list[str]]:
    with world.uow.begin() as tx:
        rows, total = result_files.listed(tx, analysis, path=path, about=about, after=0, most=10)
    assert total == len(rows)
    return {found.path: found.hints for found in rows}


def test_hints_are_kept_once_for_one_content(world: World) -> None:
    first = finished(world, row("a.py", "stripe", "Cart.add"))
    second = finished(world, row("a.py", "stripe", "Cart.add"), row("copy.py", "stripe", "Cart.add"))
    assert world.value("SELECT count(*) FROM file_inventories") == 1
    assert listed(world, first) == {"a.py": ["stripe", "Cart.add"]}
    assert listed(world, second) == {path: ["stripe", "Cart.add"] for path in ("a.py", "copy.py")}


def test_a_file_of_before_hints_is_used_again_only_where_there_are_none(world: World) -> None:
    before = finished(world, row("a.py"))
    again, after = finished(world, row("a.py")), finished(world, row("a.py", "stripe"))
    assert [listed(world, one)["a.py"] for one in (before, again, after)] == [[], [], ["stripe"]]
    assert world.value("SELECT count(*) FROM file_inventories") == 2


def test_files_are_found_letter_by_letter_without_case(world: World) -> None:
    analysis = finished(
        world, row("src/A.py", "100%", 'quote"d', "\x00 \ud83d"), row("b.py", "a_b", "App\\Cart"), row("c.py", blob="2")
    )
    for about, paths in (("%", ["src/A.py"]), ("A_B", ["b.py"]), ("a%b", []), ("100", ["src/A.py"]), (":about", []),
                         ("APP\\c", ["b.py"]), ('e"D', ["src/A.py"]), ('", "', []), ('"', ["src/A.py"])):  # fmt: skip
        assert list(listed(world, analysis, about=about)) == paths
    assert list(listed(world, analysis, path="SRC/a")) == ["src/A.py"]
    assert listed(world, analysis)["src/A.py"][2] == "\ufffd ?"


def test_as_many_hints_fit_as_the_engine_finds_and_no_more(world: World) -> None:
    hints = [f"{number}".rjust(80, "x") for number in range(MOST + 1)]
    assert listed(world, finished(world, row("a.py", *hints[:MOST]))) == {"a.py": hints[:MOST]}
    with pytest.raises(IntegrityError, match="file_inventories_hints"):
        finished(world, row("b.py", *hints, blob="2"))


def test_one_reading_counts_the_directories_of_what_matches_without_subtests(world: World) -> None:
    tests = (case("test_a"), case("test_b", 2), case("test_b/sub", 3, kind="subtest"))
    files = [
        row(path, tests=tests, blob=str(n)) for n, path in enumerate(("a.py", "x_y/b.py", "x_y/z/c.py", "x_y/z/d.py"))
    ]
    analysis = finished(world, *files)
    with world.uow.begin() as tx:
        every = results.outline(tx, analysis, TestFilter())
        some = results.outline(tx, analysis, TestFilter(q="test_b", path="x_y"))
        none = results.outline(tx, analysis, TestFilter(q="nothing"))
    assert every.directories == {".": 2, "x_y": 2, "x_y/z": 4}
    assert some.directories == {"x_y": 1, "x_y/z": 2}
    assert none.directories == {}


def test_one_reading_counts_every_sort_in_all_and_under_the_filter(world: World) -> None:
    tests = (
        case("test_old"),  # as rows were before kinds
        case("test_a", 2, kind="test", conditional=False),
        case("test_b", 3, kind="test", conditional=True),
        case("sum", 4, kind="benchmark", conditional=False, framework="go-testing"),
        case("test_c", 5, kind="test", conditional=False, status="skipped"),
    )
    analysis = finished(world, row("a.py", tests=tests), FileRow("b.py", "2" * 40, None, [], "binary"))
    with world.uow.begin() as tx:
        found = results.outline(tx, analysis, TestFilter(q="test_", conditional=False))
        part = results.part(tx, analysis, TestFilter(kind="test"), [1], skip=1, most=2)
    assert (found.files, found.counts, found.directories) == ([1], [3], {".": 3})
    assert [tuple(Tally(**row)) for row in found.tallies] == [
        ("go-testing", "active", "benchmark", False, "unknown", 1, 0),
        ("pytest", "active", "test", False, "unknown", 2, 2),
        ("pytest", "active", "test", True, "unknown", 1, 0),
        ("pytest", "skipped", "test", False, "unknown", 1, 1),
    ]
    assert [row.test["name"] for row in part] == ["test_a", "test_b"]
