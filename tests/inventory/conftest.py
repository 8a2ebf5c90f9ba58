"""Fixtures of the package's own tests: throw-away repositories, and their inventories."""

from testlist_harness.repositories import make_repository, take

__all__ = ["make_repository", "take"]
