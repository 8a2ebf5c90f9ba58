"""Webhooks over the shared world."""

from __future__ import annotations

import pytest

from tests.conftest import World
from tests.services.webhooks.receiving import Hooks


@pytest.fixture
def hooks(world: World) -> Hooks:
    return Hooks(world)
