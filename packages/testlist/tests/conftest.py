"""Fixtures that many tests ask for: throw-away repositories, and their inventories."""

from testlist_harness.repositories import make_repository, take

__all__ = ["make_repository", "take"]
