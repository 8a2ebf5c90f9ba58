"""What became of the tests between two inventories."""

import random
import subprocess
import sys
import time
from typing import Any

import pytest
from testlist import Test
from testlist.reports.compare import Comparison, compare, listed
from testlist.reports.packed_rows import Listed
from testlist_harness.repositories import MakeRepository, TakeInventory, commit


def row(name: str, line: int = 1, *suites: str, status: str = "active", end: int = 0, kind: str = "test") -> Any:
    return Test("", "pytest", suites, name, line, status, kind, end_line=end or line).row()


def file(path: str, *rows: Any, blob: str = "", skipped: str | None = None) -> Listed:
    return Listed(path, blob or f"{path} {rows}", [{**one, "file": path} for one in rows], skipped)


def names(found: Comparison) -> dict[str, list[Any]]:
    """Groups that hold something: names, or pairs of them."""
    groups: dict[str, list[Any]] = {
        "added": [one["name"] for one in found.added],
        "removed": [one["name"] for one in found.removed],
    }
    for name in ("moved", "renamed", "status_changed"):
        groups[name] = [(one.before["name"], one.after["name"]) for one in getattr(found, name)]
    return {name: rows for name, rows in groups.items() if rows}


def test_the_same_on_both_sides_is_unchanged_wherever_its_lines_are() -> None:
    found = compare([file("a.py", row("test_a"), row("test_b", 2))], [file("a.py", row("test_a", 5), row("test_b", 9))])
    assert (names(found), found.unchanged) == ({}, 2)


def test_tests_are_added_and_removed_with_their_files() -> None:
    found = compare([file("a.py", row("test_a"))], [file("b.py", row("test_b"), row("test_c", 2))])
    assert names(found) == {"added": ["test_b", "test_c"], "removed": ["test_a"]}
    assert found.added[0]["file"] == "b.py"


def test_a_status_changes() -> None:
    found = compare([file("a.py", row("test_a"))], [file("a.py", row("test_a", status="skipped"))])
    assert (names(found), found.unchanged) == ({"status_changed": [("test_a", "test_a")]}, 0)
    assert found.status_changed[0].after["status"] == "skipped"


def test_a_file_of_the_same_content_was_renamed() -> None:
    old = [file("a/x.py", row("test_a"), blob="1"), file("b/y.py", row("test_a"), blob="1")]
    new = [file("c/y.py", row("test_a"), blob="1"), file("c/x.py", row("test_a"), blob="1")]
    found = compare(old, new)
    assert names(found) == {"moved": [("test_a", "test_a")] * 2}
    assert [(one.before["file"], one.after["file"]) for one in found.moved] == [
        ("a/x.py", "c/x.py"),
        ("b/y.py", "c/y.py"),
    ]


def test_a_file_with_mostly_the_same_tests_was_renamed_and_what_is_new_in_it_is_added() -> None:
    old = [file("a.py", row("test_a"), row("test_b", 2), row("test_c", 3)), file("z.py", row("test_a"))]
    new = [file("b.py", row("test_a"), row("test_b", 2), row("test_new", 3)), file("z.py", row("test_a"))]
    found = compare(old, new)
    assert names(found)["moved"] == [("test_a", "test_a"), ("test_b", "test_b")]
    assert (names(found)["added"], names(found)["removed"], found.unchanged) == (["test_new"], ["test_c"], 1)


def test_a_test_moves_between_files_that_stay_and_may_change_its_status_on_the_way() -> None:
    old = [file("a.py", row("test_a", 1, "TestA"), row("test_b", 2)), file("b.py", row("test_c"))]
    new = [file("a.py", row("test_b", 2)), file("b.py", row("test_c"), row("test_a", 9, "TestA", status="todo"))]
    pair = [("test_a", "test_a")]
    assert names(compare(old, new)) == {"moved": pair, "status_changed": pair}


def test_the_same_name_in_another_suite_of_another_file_is_another_test() -> None:
    found = compare([file("a.py", row("test_a", 1, "A"))], [file("b.py", row("test_a", 1, "B"))])
    assert names(found) == {"added": ["test_a"], "removed": ["test_a"]}


def test_a_test_at_the_same_place_was_renamed_if_name_or_extent_is_alike() -> None:
    around = (row("test_first", 1), row("test_last", 50))
    for before, after, same in (
        (row("test_adds_one", 10), row("test_adds_two_items", 12), True),
        (row("testParsesURL", 10), row("testReadsUrl", 10), True),
        (row("test_x", 10, end=20), row("test_quite_another", 12, end=22), True),
        (row("test_x", 10), row("test_quite_another", 10), False),
        (row("test_is", 10), row("test_it_is_a", 10), False),
        (row("test_adds_one", 10), row("test_adds_two", 60), False),
        (row("test_adds_one", 10, "A"), row("test_adds_two", 10, "B"), False),
    ):
        found = compare([file("a.py", *around, before)], [file("a.py", *around, after)])
        assert ("renamed" in names(found)) is same, (before, after)


def test_a_suite_was_renamed_with_its_tests() -> None:
    old = [file("a.py", row("test_a", 2, "TestCart"), row("test_b", 3, "TestCart"))]
    new = [file("a.py", row("test_a", 2, "TestBasket"), row("test_b", 3, "TestBasket"))]
    assert list(names(compare(old, new))) == ["renamed"]


def test_one_of_several_tests_at_a_place_is_not_guessed_at() -> None:
    old = [file("a.py", row("test_adds", 1))]
    new = [file("a.py", row("test_adds_one", 1), row("test_adds_two", 2))]
    assert names(compare(old, new)) == {"added": ["test_adds_one", "test_adds_two"], "removed": ["test_adds"]}


def test_tests_of_one_name_are_matched_in_order() -> None:
    old = [file("a.py", row("same", 1), row("same", 2, status="skipped"))]
    new = [file("a.py", row("same", 3), row("same", 4, status="skipped"), row("same", 5))]
    found = compare(old, new)
    assert (names(found), found.unchanged) == ({"added": ["same"]}, 2)


def test_subtests_and_files_that_could_not_be_read_are_left_out() -> None:
    old = [file("a.go", row("TestA"), row("x", 2, "TestA", kind="subtest")), file("b.go", row("TestB"))]
    new = [file("a.go", row("TestA")), file("b.go", skipped="too_large")]
    found = compare(old, new)
    assert (names(found), found.unchanged, found.unknown) == ({}, 1, ["b.go"])


def test_a_document_has_totals_and_so_many_rows_of_each_group() -> None:
    found = compare([], [file("a.py", *(row(f"test_{number}", number) for number in range(1, 6)))])
    document = found.document(2)
    assert (document["totals"]["added"], len(document["added"])) == (5, 2)
    assert compare([], []).document()["totals"] == {
        "added": 0, "removed": 0, "moved": 0, "renamed": 0, "status_changed": 0, "unchanged": 0,
    }  # fmt: skip


@pytest.mark.proof
def test_a_comparison_of_many_hostile_rows_ends() -> None:
    generator = random.Random(1)
    sides = [
        [
            file(f"{side}{place}.py", *(row(generator.choice("ab") * 3, line) for line in range(20)))
            for place in range(3000)
        ]
        for side in "xy"
    ]
    started = time.process_time()
    found = compare(*sides)
    assert time.process_time() - started < 20
    totals = found.totals()
    assert totals["removed"] + totals["moved"] + totals["renamed"] == 60_000


def test_two_commits_of_a_repository(make_repository: MakeRepository, take: TakeInventory) -> None:
    repository = make_repository(
        {"test_a.py": "def test_one(): pass\n\ndef test_two(): pass\n", "test_b.py": "x = 1\n"}
    )
    before = take(repository)
    (repository / "test_a.py").rename(repository / "test_c.py")
    (repository / "test_b.py").write_text("import pytest\n@pytest.mark.skip\ndef test_new(): pass\n")
    commit(repository)
    found = compare(listed(before), listed(take(repository)))
    assert names(found) == {"added": ["test_new"], "moved": [("test_one", "test_one"), ("test_two", "test_two")]}


def test_a_comparison_of_large_inventories_takes_little_memory() -> None:
    code = """if True:
        import re
        from testlist.reports.compare import compare
        from testlist.reports.packed_rows import Listed
        def most():
            return int(re.search(r"VmHWM:\\s+(\\d+)", open("/proc/self/status").read())[1]) / 1024
        def side(name):
            for f in range(600):
                yield Listed(f"{name}/test_{f}.py", f"{name}{f}", [
                    {"framework": "pytest", "suites": ["TestCart"], "name": f"test_{name}_{f}_{i}_does_it", "line": i,
                     "status": "active", "kind": "test", "dynamic": False, "cases": None} for i in range(50)])
        before = most()
        found = compare(side("a"), side("b"))
        assert found.totals()["added"] == found.totals()["removed"] == 30_000
        assert len(found.document(1000)["added"]) == 1000
        print(most() - before)
    """
    took = float(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout)
    assert took < 15, f"{took:.0f} MB"  # 90 with every row as a dict
