"""What tests of accounts share."""

import pytest

from app.concurrency import Lane
from app.services.accounts import password_hashes
from tests.hashes import cheap_hashes  # noqa: F401  a fixture


@pytest.fixture
def lane(monkeypatch: pytest.MonkeyPatch) -> Lane:
    """Of which one request has the only place, and for which none waits."""
    lane = Lane("sign-ins", 1, 1)
    monkeypatch.setattr(password_hashes, "_lane", lane)
    monkeypatch.setattr(password_hashes, "_own_lane", lane)
    return lane
