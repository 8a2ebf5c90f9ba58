"""Results as they are read: the tests of an analysis in pages, their number, and the files nobody could read."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import Row, RowMapping, text

from app.store.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class TestFilter:
    """What a listing is narrowed to.  q: part of a suite or test name, path: part of the path; without case."""

    __test__ = False

    status: str | None = None
    framework: str | None = None
    path: str | None = None
    q: str | None = None


_FILTERED = """
      FROM analysis_files f
      JOIN file_inventories i ON i.id = f.file_inventory_id
      CROSS JOIN LATERAL jsonb_array_elements(i.tests) WITH ORDINALITY AS t(test, position)
     WHERE f.analysis_id = :analysis_id
       AND (CAST(:status AS text) IS NULL OR t.test->>'status' = :status)
       AND (CAST(:framework AS text) IS NULL OR t.test->>'framework' = :framework)
       AND (CAST(:path AS text) IS NULL OR strpos(lower(f.path), lower(:path)) > 0)
       AND (CAST(:q AS text) IS NULL
            OR strpos(lower(concat_ws(' ', t.test->>'name', t.test->>'suites')), lower(:q)) > 0)"""
# The first condition on the ordinal bounds the index scan; without it each page would read all files before it.
_PAGE = text(f"""
    SELECT f.ordinal, t.position, f.path, t.test {_FILTERED}
       AND f.ordinal >= :after_file AND (f.ordinal, t.position) > (:after_file, :after_test)
     ORDER BY f.ordinal, t.position LIMIT :most""")
_COUNT = text(f"SELECT count(*) {_FILTERED}")
_FILES = text("""
    SELECT f.path, i.blob_id, i.tests, f.skipped FROM analysis_files f
      LEFT JOIN file_inventories i ON i.id = f.file_inventory_id
     WHERE f.analysis_id = :analysis_id ORDER BY f.ordinal""")
_SKIPPED = text("""
    SELECT path, skipped AS reason FROM analysis_files
     WHERE analysis_id = :analysis_id AND skipped IS NOT NULL ORDER BY ordinal LIMIT :most""")


def page(tx: Tx, analysis_id: UUID, wanted: TestFilter, *, after: tuple[int, int], most: int) -> list[Row[Any]]:
    """rows: ordinal, position, path, test (JSON); by path and line.  after: (ordinal, position) of the row before."""
    found = tx.run(
        _PAGE, analysis_id=analysis_id, after_file=after[0], after_test=after[1], most=most, **asdict(wanted)
    )
    return list(found.all())


def count(tx: Tx, analysis_id: UUID, wanted: TestFilter) -> int:
    """Rows of all pages under the same filter."""
    return int(tx.run(_COUNT, analysis_id=analysis_id, **asdict(wanted)).scalar_one())


def files(tx: Tx, analysis_id: UUID) -> list[Row[Any]]:
    """rows: path, blob_id, tests (JSON), skipped; without blob and tests where a file could not be read."""
    return list(tx.run(_FILES, analysis_id=analysis_id).all())


def skipped(tx: Tx, analysis_id: UUID, *, most: int = 1000) -> list[RowMapping]:
    """rows: path, reason."""
    return list(tx.run(_SKIPPED, analysis_id=analysis_id, most=most).mappings())
