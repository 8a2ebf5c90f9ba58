"""Reading results: the tests of an analysis in pages, their number, and the files that could not be read."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class TestFilter:
    """The filter of a listing.

    q: part of a suite or test name, path: part of the path, about: part of one of the file's hints; ignoring case.
    file: the whole path; conditional: whether the test runs only under a condition; checks: some, none, which is of
    tests that cannot fail, or unknown.
    """

    __test__ = False

    status: str | None = None
    framework: str | None = None
    path: str | None = None
    q: str | None = None
    kind: str | None = None
    conditional: bool | None = None
    about: str | None = None
    file: str | None = None
    checks: str | None = None


_TESTS = """
      FROM analysis_files f
      JOIN file_inventories i ON i.id = f.file_inventory_id
      CROSS JOIN LATERAL jsonb_array_elements(i.tests) WITH ORDINALITY AS t(test, position)
     WHERE f.analysis_id = :analysis_id"""
# Searched in the array's text.  The part is written as in JSON (`as_json`), so it cannot match across two hints.
ABOUT = "(CAST(:about AS text) IS NULL OR strpos(lower(CAST(i.hints AS text)), lower(:about)) > 0)"
PATH = "(CAST(:path AS text) IS NULL OR strpos(lower(f.path), lower(:path)) > 0)"
# Results of older rules lack these members.
_KIND, _CONDITIONAL = "coalesce(t.test->>'kind', 'test')", "coalesce(t.test->>'conditional' = 'true', false)"
# Whether a test checks something.  A test without a check that was found, and that may fail, may have others.
_CHECKS = """
    CASE WHEN t.test->>'cannot_fail' IS NOT NULL THEN 'none' WHEN t.test->'check_count' > '0' THEN 'some'
         ELSE 'unknown' END"""
_MATCHES = f"""
           (CAST(:status AS text) IS NULL OR t.test->>'status' = :status)
       AND (CAST(:framework AS text) IS NULL OR t.test->>'framework' = :framework)
       AND (CAST(:kind AS text) IS NULL OR {_KIND} = :kind)
       AND (CAST(:conditional AS boolean) IS NULL OR {_CONDITIONAL} = :conditional)
       AND (CAST(:checks AS text) IS NULL OR {_CHECKS} = :checks)
       AND {PATH} AND {ABOUT} AND (CAST(:file AS text) IS NULL OR f.path = :file)
       AND (CAST(:q AS text) IS NULL
            OR strpos(lower(concat_ws(' ', t.test->>'name', t.test->>'suites')), lower(:q)) > 0)"""
_FILTERED = f"{_TESTS} AND {_MATCHES}"
# In the order of the index of lists, which ordinals follow.
ORDER = "f.last_ordinal, f.position"
# The first condition bounds the index scan; without it each page would read all files before it.
_PAGE = text(f"""
    SELECT f.ordinal, t.position, f.path, t.test {_FILTERED}
       AND f.last_ordinal >= :after_file AND (f.ordinal, t.position) > (:after_file, :after_test)
     ORDER BY {ORDER}, t.position LIMIT :most""")
# Only the named files are read; the bounds limit the scan of lists to those that contain them.
_NAMED = """
       AND f.ordinal = ANY (CAST(:files AS integer[])) AND f.last_ordinal >= :least AND f.first_ordinal <= :greatest"""
_PART = text(f"""
    SELECT f.ordinal, t.position, f.path, t.test {_FILTERED} {_NAMED}
       AND (f.ordinal, t.position) > (:after_file, :after_test)
     ORDER BY {ORDER}, t.position LIMIT :most OFFSET :skip""")
#: By what a list is sorted, besides by path and line.  What needs attention comes first among the statuses.
_BY = {
    "name": "lower(t.test->>'name')",
    "status": "array_position(ARRAY['focused', 'todo', 'skipped', 'xfail', 'active'], t.test->>'status')",
    "framework": "t.test->>'framework'",
}
_SORTED = {
    sort: text(f"""
    SELECT f.ordinal, t.position, f.path, t.test {_FILTERED} {_NAMED}
     ORDER BY {by}, {ORDER}, t.position LIMIT :most OFFSET :skip""")
    for sort, by in _BY.items()
}
_PATHS = text(f"""
    SELECT f.ordinal, f.path FROM analysis_files f
     WHERE f.analysis_id = :analysis_id AND starts_with(f.path, :under) {_NAMED} ORDER BY {ORDER}""")
_OUTLINE = text(f"""
    WITH sorts AS MATERIALIZED (
        SELECT f.ordinal, t.test->>'framework' AS framework, t.test->>'status' AS status, {_KIND} AS kind,
               {_CONDITIONAL} AS conditional, {_CHECKS} AS checks, count(*) AS tests,
               count(*) FILTER (WHERE {_MATCHES}) AS matching, f.path
        {_TESTS} GROUP BY 1, 2, 3, 4, 5, 6, f.path),
    tallies AS (
        SELECT framework, status, kind, conditional, checks, sum(tests) AS tests, sum(matching) AS matching
          FROM sorts GROUP BY 1, 2, 3, 4, 5 ORDER BY 1, 2, 3, 4, 5),
    files AS MATERIALIZED (
        SELECT ordinal, sum(matching) AS matching FROM sorts GROUP BY 1 HAVING sum(matching) > 0 ORDER BY 1),
    directories AS (
        SELECT CASE WHEN path LIKE '%/%' THEN regexp_replace(path, '/[^/]*$', '') ELSE '.' END AS directory,
               sum(matching) AS matching
          FROM sorts WHERE matching > 0 AND kind <> 'subtest' GROUP BY 1)
    SELECT (SELECT coalesce(jsonb_agg(tallies), '[]') FROM tallies) AS tallies,
           (SELECT coalesce(jsonb_object_agg(directory, matching), '{{}}') FROM directories) AS directories,
           ARRAY(SELECT ordinal FROM files ORDER BY ordinal) AS files,
           ARRAY(SELECT CAST(matching AS integer) FROM files ORDER BY ordinal) AS counts""")
_HINTS = text("""
    SELECT f.path, i.hints FROM analysis_files f JOIN file_inventories i ON i.id = f.file_inventory_id
     WHERE f.analysis_id = :analysis_id AND f.ordinal = ANY (CAST(:ordinals AS integer[]))
       AND f.last_ordinal >= :least AND f.first_ordinal <= :greatest""")
# There is no index by path: the other side's files are hashed, a few thousand rows, and all of them are needed.
_ALL_WANTED = text("SET LOCAL cursor_tuple_fraction = 1")
_DIFFERENT = text("""
    DECLARE different NO SCROLL CURSOR FOR SELECT f.path, i.blob_id, i.tests, f.skipped FROM analysis_files f
      LEFT JOIN file_inventories i ON i.id = f.file_inventory_id
      LEFT JOIN analysis_files o ON o.analysis_id = :other_id AND o.path = f.path
     WHERE f.analysis_id = :analysis_id
       AND (f.skipped IS NOT NULL OR o.file_inventory_id IS DISTINCT FROM f.file_inventory_id)
     ORDER BY f.last_ordinal, f.position""")
_FETCH = text("FETCH 20 FROM different")  # some 2,000 tests, 1.6 MB
_CLOSE = text("CLOSE different")
_SAME = text("""
    SELECT coalesce(sum(i.total_tests), 0) FROM analysis_files f
      JOIN analysis_files o
        ON o.analysis_id = :other_id AND o.path = f.path AND o.file_inventory_id = f.file_inventory_id
      JOIN file_inventories i ON i.id = f.file_inventory_id
     WHERE f.analysis_id = :analysis_id""")


class TestRow(NamedTuple):
    """A test as JSON.  ordinal: of its file in the result; position: in the file."""

    ordinal: int
    position: int
    path: str
    test: dict[str, Any]


class PathRow(NamedTuple):
    """A file of a result."""

    ordinal: int
    path: str


class OutlineRow(NamedTuple):
    """The numbers of tests that a filter finds.

    tallies: of each framework, status, kind, condition and state of checks, how many tests there are and how many
    match; files: ordinals of files with matching tests; counts: how many each has; directories: how many each has that
    are no subtests.
    """

    tallies: list[dict[str, Any]]
    directories: dict[str, Any]
    files: list[int]
    counts: list[int]


class DifferentFileRow(NamedTuple):
    """A file with its tests as JSON.  Without blob and tests, it could not be read."""

    path: str
    blob_id: str | None
    tests: list[dict[str, Any]] | None
    skipped: str | None


def page(tx: Tx, analysis_id: UUID, wanted: TestFilter, *, after: tuple[int, int], most: int) -> list[TestRow]:
    """Tests by path and line.  after: (ordinal, position) of the previous row."""
    found = tx.run(
        _PAGE, analysis_id=analysis_id, after_file=after[0], after_test=after[1], most=most, **_given(wanted)
    )
    return found.values(TestRow)


def part(
    tx: Tx,
    analysis_id: UUID,
    wanted: TestFilter,
    files: Sequence[int],
    *,
    after: tuple[int, int] = (0, 0),
    skip: int = 0,
    most: int,
) -> list[TestRow]:
    """Tests of these files only, by path and line.

    files: ordinals in order, of an outline; skip: rows at their beginning.
    """
    if not files:
        return []
    found = tx.run(
        _PART, analysis_id=analysis_id, files=list(files), least=files[0], greatest=files[-1], after_file=after[0],
        after_test=after[1], skip=skip, most=most, **_given(wanted),
    )  # fmt: skip
    return found.values(TestRow)


def sorted_part(
    tx: Tx, analysis_id: UUID, wanted: TestFilter, files: Sequence[int], sort: str, *, skip: int, most: int
) -> list[TestRow]:
    """Tests of these files in the order of `sort`, then by path and line.  All tests of the files are read.

    sort: name, status or framework; files: all ordinals of an outline.
    """
    if not files:
        return []
    found = tx.run(
        _SORTED[sort], analysis_id=analysis_id, files=list(files), least=files[0], greatest=files[-1], skip=skip,
        most=most, **_given(wanted),
    )  # fmt: skip
    return found.values(TestRow)


def paths(tx: Tx, analysis_id: UUID, files: Sequence[int], *, under: str) -> list[PathRow]:
    """Paths of files.  files: as of `part`; under: the beginning of the path."""
    if not files:
        return []
    given = {"files": list(files), "least": files[0], "greatest": files[-1]}
    return tx.run(_PATHS, analysis_id=analysis_id, under=under, **given).values(PathRow)


def outline(tx: Tx, analysis_id: UUID, wanted: TestFilter) -> OutlineRow:
    """Count the tests of each kind, and find the files that contain those under the filter, in one scan."""
    return tx.run(_OUTLINE, analysis_id=analysis_id, **_given(wanted)).value(OutlineRow)


def hints(tx: Tx, analysis_id: UUID, ordinals: Iterable[int]) -> dict[str, list[str]]:
    """Hints about files, by path."""
    wanted = sorted(set(ordinals))
    least, greatest = (wanted[0], wanted[-1]) if wanted else (0, 0)
    rows = tx.run(_HINTS, analysis_id=analysis_id, ordinals=wanted, least=least, greatest=greatest)
    return {row.path: row.hints for row in rows}


def different(tx: Tx, analysis_id: UUID, other_id: UUID) -> Iterator[DifferentFileRow]:
    """Files of one analysis that the other does not have with the same inventory at this path; a part at a time.

    No other such query may begin in this transaction before this one has been read to the end.
    """
    tx.write(_ALL_WANTED)
    tx.run(_DIFFERENT, analysis_id=analysis_id, other_id=other_id)
    while rows := tx.run(_FETCH).values(DifferentFileRow):
        yield from rows
    tx.write(_CLOSE)


def same(tx: Tx, analysis_id: UUID, other_id: UUID) -> int:
    """How many tests are in the files that are equal in both."""
    return int(tx.run(_SAME, analysis_id=analysis_id, other_id=other_id).scalar_one())


def _given(wanted: TestFilter) -> dict[str, Any]:
    return asdict(wanted) | {"about": as_json(wanted.about)}


def as_json(part: str | None) -> str | None:
    """A part of a word in the form in which JSON contains it."""
    return None if part is None else json.dumps(part, ensure_ascii=False)[1:-1]
