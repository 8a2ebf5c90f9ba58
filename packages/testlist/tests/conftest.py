"""Fixtures that many tests ask for: throw-away repositories, and their inventories."""

from contextlib import suppress

from testlist_harness.repositories import make_repository, take

with suppress(ImportError):  # where the package is alone, the end of a run is not checked
    from durable_harness.left_behind import watch as pytest_configure

__all__ = ["make_repository", "pytest_configure", "take"]
