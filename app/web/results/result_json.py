"""Tests of a result as JSON."""

from __future__ import annotations

from typing import Any

from app.services.results.read_tests import TestInFile


def test_json(found: TestInFile) -> dict[str, Any]:
    """The test as the engine wrote it, with its file first."""
    return {"file": found.file, **found.test}
