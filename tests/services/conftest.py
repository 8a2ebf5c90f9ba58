"""What tests of services share: the command line over them."""

from __future__ import annotations

from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from tests.conftest import World


@pytest.fixture
def fairlane(world: World, database_url: str, monkeypatch: pytest.MonkeyPatch) -> Any:
    """Runs a command on the world's database: fairlane("audit", "--json") -> its result.  input: of standard input."""
    monkeypatch.setenv("DATABASE_URL", database_url)
    monkeypatch.setenv("COLUMNS", "200")

    def run(*arguments: str, input: str | None = None) -> Result:  # noqa: A002 - click's name
        return CliRunner().invoke(main, arguments, input=input)

    return run
