"""Fixtures that many tests ask for: throw-away repositories, and their inventories."""

from contextlib import suppress
from pathlib import Path

import pytest
from testlist_harness.history import history
from testlist_harness.repositories import make_repository, take

with suppress(ImportError):  # where the package is alone, the end of a run is not checked
    from durable_harness.left_behind import watch as pytest_configure

__all__ = ["history", "make_repository", "pytest_configure", "take"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A command keeps what it read for the test that ran it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
