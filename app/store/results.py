"""Counts over the results of an analysis."""

from __future__ import annotations

from uuid import UUID

from sqlalchemy import text

from app.store.inventories import TestFilter
from app.store.unit_of_work import Tx

_COUNT = text("""
    SELECT count(*)
      FROM analysis_files f
      JOIN file_inventories i ON i.id = f.file_inventory_id
      CROSS JOIN LATERAL jsonb_array_elements(i.tests) AS t(test)
     WHERE f.analysis_id = :analysis_id
       AND (CAST(:status AS text) IS NULL OR t.test->>'status' = :status)
       AND (CAST(:framework AS text) IS NULL OR t.test->>'framework' = :framework)
       AND (CAST(:path AS text) IS NULL OR strpos(lower(f.path), lower(:path)) > 0)
       AND (CAST(:q AS text) IS NULL
            OR strpos(lower(concat_ws(' ', t.test->>'name', t.test->>'suites')), lower(:q)) > 0)""")


def count(tx: Tx, analysis_id: UUID, wanted: TestFilter) -> int:
    """Rows that `inventories.tests` would list in all, under the same filter."""
    counted = tx.run(
        _COUNT, analysis_id=analysis_id, status=wanted.status, framework=wanted.framework, path=wanted.path, q=wanted.q
    )
    return int(counted.scalar_one())
