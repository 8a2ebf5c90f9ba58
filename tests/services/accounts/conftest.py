"""What tests of accounts share."""

import pytest
from argon2 import PasswordHasher
from argon2.low_level import Type

from app.concurrency import Lane
from app.services.accounts import password_hashes


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash so quickly that no bucket is refilled in the meantime."""
    hasher = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, type=Type.ID)
    monkeypatch.setattr(password_hashes, "_hasher", hasher)
    monkeypatch.setattr(password_hashes, "_NOBODYS", hasher.hash("nobody's"))


@pytest.fixture
def lane(monkeypatch: pytest.MonkeyPatch) -> Lane:
    """Of which one request has the only place, and for which none waits."""
    lane = Lane("sign-ins", 1, 1)
    monkeypatch.setattr(password_hashes, "_lane", lane)
    return lane
