"""Lists of files are stored once for all analyses that have them, and a page reads no more than it shows."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import accumulate
from uuid import UUID

import pytest
from sqlalchemy import text
from sqlalchemy.exc import IntegrityError

from app.services.analyses.finish import save
from app.services.results.outline import Outline
from app.store.analyses import file_lists
from app.store.analyses.file_lists import MOST, lists
from app.store.analyses.inventories import FileRow
from app.store.results import results
from app.store.results.results import TestFilter
from tests.conftest import World
from tests.databases import LOCK_WAITS

FILES = 1_000
Change = Callable[[list[FileRow]], list[FileRow]]
COUNTED = ("file_lists", "file_list_entries", "analysis_file_lists", "file_inventories")


def file(number: int, test: str = "test_a") -> FileRow:
    case = {"name": test, "line": 1, "suites": [], "status": "active", "framework": "pytest"}
    return FileRow(f"tests/test_{number:05}.py", f"{number:040x}", "pytest", [case], None)


def finished(world: World, files: Sequence[FileRow]) -> UUID:
    user = world.user()
    delivery = world.running(user)
    world.finish(delivery, user, files)
    return delivery.job_id


def rows(world: World) -> int:
    return sum(int(str(world.value(f"SELECT count(*) FROM {table}"))) for table in COUNTED)


def paths(world: World, analysis: UUID) -> list[object]:
    found = world.rows(f"SELECT path, ordinal FROM analysis_files WHERE analysis_id = '{analysis}' ORDER BY ordinal")
    assert [row["ordinal"] for row in found] == list(range(1, len(found) + 1))
    return [row["path"] for row in found]


@pytest.mark.parametrize(
    "change",
    [
        lambda files: [*files[:500], file(500, "test_b"), *files[501:]],
        lambda files: [*files[:500], *files[501:]],
        lambda files: [*files[:500], FileRow("tests/test_00499_more.py", "f" * 40, None, [], "binary"), *files[500:]],
        lambda files: [*files[:500], FileRow(files[500].path, "e" * 40, None, [], "too_large"), *files[501:]],
    ],
    ids=["changed", "removed", "added", "skipped"],
)
def test_one_file_of_a_thousand_writes_a_twentieth_of_the_rows_at_most(world: World, change: Change) -> None:
    files = [file(number) for number in range(FILES)]
    first = finished(world, files)
    cold = rows(world)
    after = change(files)
    second = finished(world, after)
    written = rows(world) - cold
    assert written <= 0.05 * cold
    assert (paths(world, first), paths(world, second)) == ([one.path for one in files], [one.path for one in after])


def test_an_equal_commit_writes_only_what_refers_to_it(world: World) -> None:
    files = [file(number) for number in range(100)]
    finished(world, files)
    before = rows(world) - int(str(world.value("SELECT count(*) FROM analysis_file_lists")))
    finished(world, files)
    assert rows(world) - int(str(world.value("SELECT count(*) FROM analysis_file_lists"))) == before


def test_lists_end_where_a_path_says_so_and_grow_to_a_bound() -> None:
    files = [file(number) for number in range(5_000)]
    made = list(lists(files, "1"))
    assert [one for part in made for one in part.files] and sum(len(part.files) for part in made) == 5_000
    assert 8 <= 5_000 / len(made) <= 24
    same = [FileRow("a.py", f"{number:040x}", None, [], None) for number in range(3 * MOST)]
    assert {len(part.files) for part in lists(same, "1")} <= {1, MOST}


def test_another_parser_or_another_outcome_makes_another_list() -> None:
    (one,), (other,) = lists([file(1)], "1"), lists([file(1)], "2")
    (third,), (fourth,) = (
        lists([file(1, "test_b")], "1"),
        lists([FileRow(file(1).path, f"{1:040x}", None, [], "binary")], "1"),
    )
    assert len({one.digest, other.digest, third.digest, fourth.digest}) == 4
    ((again,),) = [list(lists([file(1)], "1"))]
    assert again.digest == one.digest


def test_a_list_that_was_never_stored_is_refused(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    with pytest.raises(IntegrityError), world.uow.begin() as tx:
        file_lists.attach(tx, delivery.job_id, [b"nothing"])


def test_a_page_in_the_middle_reads_the_lists_it_shows(world: World) -> None:
    analysis = finished(world, [file(number) for number in range(5_000)])
    with world.uow.begin() as tx:
        tx.run(text("ANALYZE analysis_file_lists, file_list_entries, file_inventories"))
    with world.uow.begin() as tx:
        found = results.page(tx, analysis, TestFilter(), after=(2_500, 1), most=50)
        parameters = {
            **vars_of(TestFilter()),
            "analysis_id": analysis,
            "after_file": 2_500,
            "after_test": 1,
            "most": 50,
        }
        plan = tx.run(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {results._PAGE.text}"), **parameters).scalar_one()
    assert [row.ordinal for row in found] == list(range(2_501, 2_551))
    read = [node["Actual Rows"] * node["Actual Loops"] for node in nodes(plan[0]["Plan"]) if "Relation Name" in node]
    assert max(read) <= 2 * MOST, json.dumps(plan, indent=1)


def test_the_last_page_under_a_filter_reads_no_more_than_the_first(world: World) -> None:
    analysis, wanted = finished(world, [file(number) for number in range(5_000)]), TestFilter(status="active")
    with world.uow.begin() as tx:
        tx.run(text("ANALYZE analysis_file_lists, file_list_entries, file_inventories"))
    with world.uow.begin() as tx:
        found = results.outline(tx, analysis, wanted)
        seen = Outline([], found.files, list(accumulate(found.counts)))
        last = seen.part(seen.total - 50, 50)
        parameters = {
            **vars_of(wanted),
            "analysis_id": analysis,
            "files": last.files,
            "least": last.files[0],
            "greatest": last.files[-1],
            "after_file": 0,
            "after_test": 0,
            "skip": last.skip,
            "most": 50,
        }
        plan = tx.run(text(f"EXPLAIN (ANALYZE, FORMAT JSON) {results._PART.text}"), **parameters).scalar_one()
        rows = results.part(tx, analysis, wanted, last.files, skip=last.skip, most=50)
    assert [row.ordinal for row in rows] == list(range(4_951, 5_001))
    read = [node["Actual Rows"] * node["Actual Loops"] for node in nodes(plan[0]["Plan"]) if "Relation Name" in node]
    assert max(read) <= 2 * MOST, json.dumps(plan, indent=1)


def vars_of(wanted: TestFilter) -> dict[str, object]:
    return results._given(wanted)


def nodes(plan: dict[str, object]) -> list[dict[str, object]]:
    inner = plan.get("Plans", [])
    assert isinstance(inner, list)
    return [plan, *(node for one in inner for node in nodes(one))]


@pytest.mark.parametrize("commits", [True, False])
def test_of_two_who_store_the_same_lists_one_does(world: World, commits: bool) -> None:
    files = [file(number) for number in range(64)]
    version = world.policy.parser_version
    with ThreadPoolExecutor(1) as pool, suppress(InterruptedError), world.uow.begin() as tx:
        file_lists.store(tx, list(lists(files, version)), version)
        other = pool.submit(save, world.uow, files, world.policy)
        while not world.value(LOCK_WAITS):
            assert not other.done()
        if not commits:
            raise InterruptedError
    assert other.result() == [one.digest for one in lists(files, version)]
    assert world.value("SELECT count(*) FROM file_list_entries") == 64
    assert world.value("SELECT count(*) FROM file_inventories") == 64
