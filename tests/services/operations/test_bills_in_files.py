"""`fairlane bills export` writes CSV, and Parquet with the extra `parquet`."""

from __future__ import annotations

import csv
from datetime import UTC, datetime, timedelta
from pathlib import Path
from uuid import uuid4

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from tests.conftest import World
from tests.services.operations.test_export_bills import HOLD, MONTH, add


def exported(world: World, file: Path, month: str = "2025-10") -> Result:
    env = {
        "DATABASE_URL": world.uow.engine.url.render_as_string(hide_password=False),
        "FAIRLANE_HOME": str(file.parent),
    }
    return CliRunner().invoke(main, ["bills", "export", "--month", month, str(file)], env=env)


def test_bills_are_lines_of_csv_that_only_the_operator_may_read(world: World, tmp_path: Path) -> None:
    user, file = world.user(), tmp_path / "bills.csv"
    jobs = [add(world, user, MONTH + timedelta(days=day), units=day) for day in (1, 30)]
    done = exported(world, file)
    assert done.stdout == f"{file}: 2 bills, 31 units\n", done.output
    rows = list(csv.DictReader(file.read_text(encoding="utf-8").splitlines()))
    assert [row["job_id"] for row in rows] == list(map(str, jobs))
    assert rows[0]["accepted_at"] == "2025-10-02T00:00:00+00:00"
    assert file.stat().st_mode & 0o077 == 0
    exported(world, file, "2025-09")
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1


def test_a_month_that_is_refused_leaves_the_file_as_it_was(world: World, tmp_path: Path) -> None:
    file = tmp_path / "bills.csv"
    file.write_text("of before")
    world.rows(HOLD, user=world.user(), job=uuid4(), at=MONTH)
    done = exported(world, file)
    assert done.exit_code == 1
    assert "may still be billed" in done.stderr
    assert [path.name for path in tmp_path.iterdir() if "bills" in path.name] == ["bills.csv"]
    assert file.read_text() == "of before"


def test_parquet_has_the_same_bills_with_their_types(world: World, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow", reason="pyarrow is not installed: pip install 'fairlane[parquet]'")
    from pyarrow import parquet

    user, file = world.user(), tmp_path / "bills.parquet"
    jobs = [add(world, user, MONTH + timedelta(hours=hour), units=2) for hour in (0, 700)]
    world.rows("UPDATE usage_events SET user_id = NULL WHERE job_id = :job RETURNING id", job=jobs[0])
    assert exported(world, file).exit_code == 0
    found = parquet.read_table(file).to_pylist()
    assert [(row["job_id"], row["user_id"], row["quota_amount"]) for row in found] == [
        (str(jobs[0]), None, 2), (str(jobs[1]), str(user), 2),
    ]  # fmt: skip
    assert found[0]["accepted_at"] == datetime(2025, 10, 1, tzinfo=UTC)
