"""Passwords that are hashed at once: with the parameters of the service a hash takes 64 MiB and 0.1 s of a processor."""

from __future__ import annotations

import pytest
from argon2 import PasswordHasher
from argon2.low_level import Type

from app.services.accounts import password_hashes

CHEAP = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1, type=Type.ID)
_NOBODYS = CHEAP.hash("nobody's")


@pytest.fixture(autouse=True)
def cheap_hashes(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hash cheaply, but for tests marked `real_hashes`."""
    if request.node.get_closest_marker("real_hashes") is None:
        monkeypatch.setattr(password_hashes, "_hasher", CHEAP)
        monkeypatch.setattr(password_hashes, "_NOBODYS", _NOBODYS)
