"""CELLS and DIRECTORY_URL: what is refused, and that no password is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from app.errors import BadSetting
from app.settings import load, secrets

ONE = "postgresql://app:first-password@db1/fairlane"
OTHER = "postgresql://app:second-password@db2/fairlane"


def given(cells: str) -> dict[str, str]:
    return {"CELLS": cells, "DIRECTORY_URL": ONE, "DATABASE_URL": ONE}


def test_cells_are_named_and_a_process_is_of_one(tmp_path: Path) -> None:
    (tmp_path / "cells").write_text(f"eu1={ONE}\n\teu2={OTHER}\n")
    settings = load({"CELLS_FILE": str(tmp_path / "cells"), "DIRECTORY_URL": ONE, "DATABASE_URL": ONE})
    assert (settings.cell, [*settings.cell_addresses]) == ("eu1", ["eu1", "eu2"])
    assert load({"DATABASE_URL": ONE}).cell is None
    assert "password" not in repr(settings)
    found = secrets(settings)
    assert (found["CELLS eu1"], found["CELLS eu2"]) == ("first-password", "second-password")
    assert (found["DIRECTORY_URL"], "CELLS" in found) == ("first-password", False)


@pytest.mark.parametrize(
    ("cells", "why"),
    [
        ("eu1", "expected NAME=postgresql"),
        (" ", "expected NAME=postgresql"),
        (f"EU1={ONE}", "expected NAME=postgresql"),
        (f"eu1={ONE} {OTHER}", "expected NAME=postgresql"),
        (f"eu1={ONE},eu2={OTHER}", "expected NAME=postgresql"),
        (f"eu1={ONE} eu1={OTHER}", "twice"),
        (f"eu1={ONE} eu2={ONE}", "two cells have the same database"),
        (f"eu1={ONE} eu2=postgresql://other:second-password@db1:5432/fairlane", "two cells have the same database"),
        ("eu1=mysql://app:first-password@db1/fairlane", "expected postgresql"),
        ("eu1=postgresql://app:first-password@db1:99999/fairlane", "expected a port"),
        ("eu1=postgresql://app:first-password with a space@db1/fairlane", "expected"),
        (f"eu2={OTHER}", "expected DATABASE_URL among"),
    ],
)
def test_what_cannot_be_meant_is_refused_without_a_password(cells: str, why: str) -> None:
    with pytest.raises(BadSetting) as refused:
        load(given(cells))
    assert why in str(refused.value)
    assert "CELLS" in str(refused.value)
    assert "password" not in str(refused.value).lower().replace("user:password@host", "")


@pytest.mark.parametrize("left_out", ["CELLS", "DIRECTORY_URL"])
def test_cells_need_a_directory_and_a_directory_needs_cells(left_out: str) -> None:
    environ = given(f"eu1={ONE}")
    del environ[left_out]
    with pytest.raises(BadSetting, match="both or neither"):
        load(environ)


@pytest.mark.parametrize(("cells", "part"), [(f"eu1={ONE} eu2={OTHER}", 3), (f"eu1={ONE}", 5), ("", 5)])
def test_cells_share_the_sign_ups_of_a_day(cells: str, part: int) -> None:
    assert load({"SIGN_UPS_PER_DAY": "5", **(given(cells) if cells else {})}).sign_ups_of_cell == part
