"""One test in many analyses, found by its file, its suites and its name."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# Analyses of one repository share most of their lists of files, and equal files share their inventory: each list and
# each inventory is searched once, however many analyses have it.  There is no index by path.
_FIND = text("""
    WITH lists AS MATERIALIZED (
        SELECT DISTINCT file_list_id FROM analysis_file_lists
         WHERE analysis_id = ANY (CAST(:analyses AS uuid[]))),
    entries AS MATERIALIZED (
        SELECT e.file_list_id, e.file_inventory_id, e.skipped
          FROM lists JOIN file_list_entries e USING (file_list_id) WHERE e.path = :path),
    found AS MATERIALIZED (
        SELECT i.id, jsonb_agg(t.test ORDER BY t.position) AS tests
          FROM file_inventories i
         CROSS JOIN LATERAL jsonb_array_elements(i.tests) WITH ORDINALITY AS t(test, position)
         WHERE i.id IN (SELECT file_inventory_id FROM entries)
           AND t.test->>'name' = :name AND t.test->'suites' = CAST(:suites AS jsonb)
         GROUP BY i.id)
    SELECT l.analysis_id, e.skipped, coalesce(f.tests, '[]') AS tests
      FROM analysis_file_lists l
      JOIN entries e USING (file_list_id)
      LEFT JOIN found f ON f.id = e.file_inventory_id
     WHERE l.analysis_id = ANY (CAST(:analyses AS uuid[]))""")


class TestHistoryRow(NamedTuple):
    """The tests of a file that have a name, as JSON by line.  skipped: why the file could not be read."""

    analysis_id: UUID
    skipped: str | None
    tests: list[dict[str, Any]] | None


def find(tx: Tx, analyses: Sequence[UUID], path: str, suites: Sequence[str], name: str) -> list[TestHistoryRow]:
    """The tests of this name in each analysis; none for an analysis without the file."""
    given = {"analyses": list(analyses), "path": path, "name": name, "suites": json.dumps(list(suites))}
    return tx.run(_FIND, **given).values(TestHistoryRow)
