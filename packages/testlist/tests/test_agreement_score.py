"""The score that the agreement with runners rests on: what differs is seen."""

from testlist import Test
from testlist_harness.agreement.score import Listed, compare


def ours(name: str, line: int, **more: object) -> Test:
    return Test("a.js", "mocha", ("s",), name, line, **more)  # type: ignore[arg-type]


def theirs(name: str | None, line: int, status: str = "active", column: int = 1) -> Listed:
    return Listed("a.js", line, column, name and ("s", name), "mocha", frozenset([status]))


def test_what_one_side_alone_has_lowers_its_share() -> None:
    score = compare([ours("x", 1), ours("y", 2), ours("z", 3)], [theirs("x", 1), theirs("w", 9)])
    assert (round(score.precision), round(score.recall)) == (33, 50)
    assert [test.name for test in score.too_many] == ["y", "z"]
    assert [row.line for row in score.missed] == [9]


def test_one_row_matches_one_definition_and_the_one_of_its_name_first() -> None:
    score = compare([ours("x", 1)], [theirs("other", 1), theirs("x", 1)])
    assert [row.name for row in score.missed] == [("s", "other")]


def test_an_equal_name_on_another_line_is_no_match() -> None:
    score = compare([ours("x", 1)], [theirs("x", 2)])
    assert (score.precision, score.recall) == (0, 0)


def test_a_row_without_a_line_is_matched_by_its_name() -> None:
    assert compare([ours("x", 4)], [theirs("x", 0)]).recall == 100


def test_a_table_is_matched_within_its_span_only_when_it_is_dynamic() -> None:
    listed = [theirs(None, 5)]
    assert compare([ours("x %s", 1, end_line=9, dynamic=True)], listed).recall == 100
    assert compare([ours("x %s", 1, end_line=9)], listed).recall == 0


def test_names_and_statuses_are_compared_where_both_sides_know_them() -> None:
    tests = [ours("x", 1, status="skipped"), ours("y", 2, conditional=True), ours("z", 3)]
    score = compare(tests, [theirs("x", 1), theirs("y", 2, "skipped"), theirs("q", 3)])
    assert (score.precision, round(score.names), score.status) == (100, 67, 50)
    assert "a.js:1 is skipped" in score.differences()


def test_files_and_subtests() -> None:
    extra = Test("b.js", "mocha", (), "b", 1)
    score = compare([ours("x", 1), ours("t", 2, kind="subtest"), extra], [theirs("x", 1)])
    assert (score.files, len(score.too_many)) == ((50, 100), 1)
