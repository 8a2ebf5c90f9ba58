"""Two cells: databases of their own, each with everything of the product."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, publishing
from tests.databases import Databases
from tests.services.cells.crossing import crossing  # noqa: F401  a fixture


@pytest.fixture
def there(databases: Databases) -> Iterator[World]:
    """The cell to which accounts move."""
    with databases.copy() as url, databases.engine(url) as engine:
        yield World(UnitOfWork(engine, publishing()))
