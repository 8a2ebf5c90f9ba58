"""Listings of results: filters, their letters, and pages in a stable order."""

from uuid import UUID

import pytest

from app.store.analyses.inventories import FileRow
from app.store.results import result_files, results
from app.store.results.result_files import SkippedFile
from app.store.results.results import TestFilter
from tests.conftest import World

Row = tuple[str, str]


def case(name: str, line: int = 1, *, suites: tuple[str, ...] = (), status: str = "active", framework: str = "pytest"):
    return {"name": name, "line": line, "suites": suites, "status": status, "framework": framework, "kind": "test"}


FILES = [
    FileRow("src/100%_done.test.ts", "1" * 40, "jest", [
        case("adds 50% of a_b", suites=("Math", "Sums"), framework="jest"),
        case("axb", 2, status="skipped", framework="jest"),
    ], None),
    FileRow("tests/Cart/test_cart.py", "2" * 40, "pytest", [
        case("test_Buys_Nothing", suites=("TestCart",)),
        case("test_buys\\twice", 2, status="xfail"),
        case("test_grüßt_ÄRGER", 3, status="todo"),
    ], None),
    FileRow("tests/large.py", "3" * 40, None, [], "too_large"),
    FileRow("tests/test_empty.py", "4" * 40, "pytest", [], None),
    FileRow("tests/test_unit.py", "5" * 40, "unittest", [
        case("test_buys", suites=("Old",), framework="unittest"),
        case("test_buys", 2, status="focused", framework="pytest"),
    ], None),
]  # fmt: skip


@pytest.fixture
def analysis(world: World) -> UUID:
    user = world.user()
    delivery = world.running(user)
    world.finish(delivery, user, FILES)
    return delivery.job_id


def listed(
    world: World, analysis: UUID, wanted: TestFilter, after: tuple[int, int] = (0, 0), most: int = 100
) -> list[Row]:
    with world.uow.begin() as tx:
        rows = results.page(tx, analysis, wanted, after=after, most=most)
        if after == (0, 0) and most == 100:
            found = results.outline(tx, analysis, wanted)
            assert sum(found.counts) == len(rows) == sum(row["matching"] for row in found.tallies)
            assert results.part(tx, analysis, wanted, found.files, most=most) == rows
    return [(row.path.rsplit("/", 1)[1], row.test["name"]) for row in rows]


def names(world: World, analysis: UUID, **wanted: str) -> list[str]:
    return [name for _, name in listed(world, analysis, TestFilter(**wanted))]


def test_without_a_filter_every_test_is_listed_by_path_and_line(world: World, analysis: UUID) -> None:
    assert listed(world, analysis, TestFilter()) == [
        ("100%_done.test.ts", "adds 50% of a_b"), ("100%_done.test.ts", "axb"),
        ("test_cart.py", "test_Buys_Nothing"), ("test_cart.py", "test_buys\\twice"),
        ("test_cart.py", "test_grüßt_ÄRGER"), ("test_unit.py", "test_buys"), ("test_unit.py", "test_buys"),
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("status", "found"),
    [("active", 3), ("skipped", 1), ("xfail", 1), ("todo", 1), ("focused", 1), ("Active", 0), ("act", 0), ("%", 0)],
)
def test_a_status_is_matched_whole(world: World, analysis: UUID, status: str, found: int) -> None:
    assert len(names(world, analysis, status=status)) == found


def test_a_framework_is_the_tests_own_not_its_files(world: World, analysis: UUID) -> None:
    assert len(names(world, analysis, framework="unittest")) == 1
    assert len(names(world, analysis, framework="pytest")) == 4
    assert names(world, analysis, framework="jest") == ["adds 50% of a_b", "axb"]


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("tests/", 5), ("TESTS/cart", 3), ("test_cart.py", 3), ("cart/test", 3), ("src", 2), ("100%_d", 2), ("%", 2),
        ("_", 7), ("1__%", 0), ("tests%cart", 0), ("*", 0), ("large", 0), ("empty", 0), (".", 7), ("\\", 0), ("'", 0),
    ],
)  # fmt: skip
def test_a_path_is_a_part_of_the_path_letter_by_letter_without_case(
    world: World, analysis: UUID, path: str, found: int
) -> None:
    assert len(names(world, analysis, path=path)) == found


@pytest.mark.parametrize(
    ("q", "expected"),
    [
        ("BUYS", ["test_Buys_Nothing", "test_buys\\twice", "test_buys", "test_buys"]),
        ("50%", ["adds 50% of a_b"]),
        ("%", ["adds 50% of a_b"]),
        ("a_b", ["adds 50% of a_b"]),
        ("a%b", []),
        ("axb", ["axb"]),
        ("sums", ["adds 50% of a_b"]),
        ("math", ["adds 50% of a_b"]),
        ("testcart", ["test_Buys_Nothing"]),
        ("s\\t", ["test_buys\\twice"]),
        ("grüßt", ["test_grüßt_ÄRGER"]),
        ("'; DROP TABLE users; --", []),
        (":q", []),
    ],
)
def test_a_search_finds_names_and_suites_letter_by_letter_without_case(
    world: World, analysis: UUID, q: str, expected: list[str]
) -> None:
    assert names(world, analysis, q=q) == expected


def test_filters_narrow_one_another(world: World, analysis: UUID) -> None:
    assert names(world, analysis, q="buys", status="xfail", framework="pytest", path="cart") == ["test_buys\\twice"]
    assert names(world, analysis, q="buys", status="skipped") == []


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8])
def test_pages_of_any_size_give_every_test_once_in_the_same_order(world: World, analysis: UUID, size: int) -> None:
    whole, seen, after = listed(world, analysis, TestFilter()), [], (0, 0)
    while True:
        with world.uow.begin() as tx:
            page = results.page(tx, analysis, TestFilter(), after=after, most=size)
        if not page:
            break
        seen += [(row.path.rsplit("/", 1)[1], row.test["name"]) for row in page]
        after = (page[-1].ordinal, page[-1].position)
    assert seen == whole


def test_skipped_files_are_listed_with_their_reason(world: World, analysis: UUID) -> None:
    with world.uow.begin() as tx:
        assert result_files.skipped(tx, analysis) == [SkippedFile("tests/large.py", "too_large")]
        assert result_files.skipped(tx, analysis, most=0) == []


def test_an_unknown_analysis_has_no_tests(world: World, analysis: UUID) -> None:
    assert listed(world, UUID(int=1), TestFilter()) == []


def test_one_content_under_two_names_and_two_contents_of_one_blob_are_kept_apart(world: World) -> None:
    user = world.user()
    delivery = world.running(user)
    files = [
        FileRow("a.py", "1" * 40, "pytest", [case("test_same")], None),
        FileRow("b.py", "1" * 40, "pytest", [case("test_same")], None),
        FileRow("c.py", "1" * 40, "pytest", [case("test_same", status="skipped")], None),  # by its conftest
    ]
    world.finish(delivery, user, files)
    with world.uow.begin() as tx:
        rows = results.page(tx, delivery.job_id, TestFilter(), after=(0, 0), most=10)
    assert [(row.path, row.test["status"]) for row in rows] == [
        ("a.py", "active"),
        ("b.py", "active"),
        ("c.py", "skipped"),
    ]
    assert world.value("SELECT count(*) FROM file_inventories") == 2


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("a NUL \x00 here", "a NUL \ufffd here"),
        ("the letters \\u0000", "the letters \\u0000"),
        ("a backslash and a NUL \\\x00", "a backslash and a NUL \\\ufffd"),
        ("two backslashes \\\\u0000", "two backslashes \\\\u0000"),
        ("half a pair \ud83d", "half a pair ?"),
    ],
)
def test_names_with_letters_postgresql_does_not_store_are_kept_as_near_as_it_can(
    world: World, written: str, read: str
) -> None:
    user = world.user()
    delivery = world.running(user)
    world.finish(delivery, user, [FileRow("web/a.test.js", "6" * 40, "jest", [case(written)], None)])
    assert names(world, delivery.job_id) == [read]
