"""The sweep of a service with cells."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from sqlalchemy.exc import OperationalError
from structlog.testing import capture_logs

from app.services.cells.cells import Cells
from tasks import maintenance
from tests.conftest import World


class Away:
    """Transactions in a directory that cannot be reached."""

    def once(self) -> Any:
        raise OperationalError("SELECT 1", {}, Exception("no connection"))


def test_a_sweep_removes_the_holds_and_says_so_while_the_directory_is_away(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = Cells("a", {"a": world.uow}, Away())  # type: ignore[arg-type]  # all that a sweep asks of it
    kit = SimpleNamespace(uow=world.uow, policy=world.policy, cells=cells)
    monkeypatch.setattr(maintenance, "wired", lambda: kit)
    with capture_logs() as lines, pytest.raises(OperationalError):
        maintenance.sweep.run()
    assert [line["event"] for line in lines] == ["swept"]
