"""What the tests of a file check."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx

# There is no index by path.
_OF_FILE = text("""
    SELECT t.position, t.checks FROM analysis_files f
      JOIN file_inventories i ON i.id = f.file_inventory_id
     CROSS JOIN LATERAL ROWS FROM (jsonb_array_elements(i.tests), jsonb_array_elements(i.checks))
           WITH ORDINALITY AS t(test, checks, position)
     WHERE f.analysis_id = :analysis_id AND f.path = :path AND i.checks IS NOT NULL
       AND (CAST(:name AS text) IS NULL
            OR t.test->>'name' = :name AND t.test->'suites' = CAST(:suites AS jsonb))
     ORDER BY t.position""")


class ChecksRow(NamedTuple):
    """What a test checks, as JSON; None where it is not known.  position: of the test in its file."""

    position: int
    checks: dict[str, Any] | None


def of_file(
    tx: Tx, analysis_id: UUID, path: str, *, suites: Sequence[str] = (), name: str | None = None
) -> list[ChecksRow]:
    """One row for each test of the file, or for each of this name, by position; none if nothing is known of the file.

    The statement reads all checks of the file, half a megabyte at most.
    """
    given = {"path": path, "name": name, "suites": json.dumps(list(suites))}
    return tx.run(_OF_FILE, analysis_id=analysis_id, **given).values(ChecksRow)
