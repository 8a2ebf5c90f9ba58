"""The files of a result: those with tests, and those that could not be read."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx
from app.store.results.results import ABOUT, ORDER, PATH, as_json

_LISTED = f"""
      FROM analysis_files f LEFT JOIN file_inventories i ON i.id = f.file_inventory_id
     WHERE f.analysis_id = :analysis_id AND (i.total_tests > 0 OR f.skipped IS NOT NULL) AND {PATH} AND {ABOUT}"""
_LIST = text(f"""
    SELECT f.ordinal, f.path, i.framework, coalesce(i.total_tests, 0) AS tests, f.skipped,
           coalesce(i.hints, '[]') AS hints {_LISTED}
       AND f.last_ordinal > :after AND f.ordinal > :after ORDER BY {ORDER} LIMIT :most""")
_COUNT_LISTED = text(f"SELECT count(*) {_LISTED}")
_SKIPPED = text("""
    SELECT path, skipped AS reason FROM analysis_files
     WHERE analysis_id = :analysis_id AND skipped IS NOT NULL ORDER BY last_ordinal, position LIMIT :most""")


class ListedFileRow(NamedTuple):
    """A file with tests, or one that could not be read and why."""

    ordinal: int
    path: str
    framework: str | None
    tests: int
    skipped: str | None
    hints: list[str]


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file that could not be read."""

    path: str
    reason: str


def listed(
    tx: Tx, analysis_id: UUID, *, path: str | None, about: str | None, after: int, most: int
) -> tuple[list[ListedFileRow], int]:
    """Files with tests and files that could not be read, and how many there are on all pages.

    path, about: as of TestFilter; after: an ordinal.
    """
    narrowed = {"analysis_id": analysis_id, "path": path, "about": as_json(about)}
    rows = tx.run(_LIST, after=after, most=most, **narrowed).values(ListedFileRow)
    return list(rows), int(tx.run(_COUNT_LISTED, **narrowed).scalar_one())


def skipped(tx: Tx, analysis_id: UUID, *, most: int = 1000) -> list[SkippedFile]:
    """Files that could not be read, up to `most`."""
    return tx.run(_SKIPPED, analysis_id=analysis_id, most=most).values(SkippedFile)
