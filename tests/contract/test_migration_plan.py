"""`fairlane migrate --plan`: what would be done, locked and built, without doing it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sqlalchemy import Engine, create_engine, pool, text

from app import migrate as migrating
from app.errors import BadSetting
from app.version import VERSION
from tests.contract.catalogs import schema_of
from tests.contract.conftest import ROOT
from tests.contract.migrating import filled, migrated_to
from tests.databases import Databases

pytestmark = pytest.mark.proof


@pytest.fixture
def engine(databases: Databases) -> Iterator[Engine]:
    with databases.new() as url:
        made = create_engine(url, poolclass=pool.NullPool)
        yield made
        made.dispose()


def said(engine: Engine, home: Path, *options: str) -> subprocess.CompletedProcess[str]:
    env = os.environ | {"DATABASE_URL": engine.url.render_as_string(hide_password=False), "FAIRLANE_HOME": str(home)}
    argv = [sys.executable, "-m", "app.cli", "migrate", *options]
    return subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True)


def test_a_plan_names_each_pending_migration_with_its_locks_and_sizes_and_changes_nothing(
    engine: Engine, tmp_path: Path
) -> None:
    migrated_to(engine, "0037")
    filled(engine, 3_000)
    with engine.connect() as connection:
        connection.execute(text("ANALYZE"))
        before = schema_of(connection)
    done = said(engine, tmp_path, "--plan")
    lines = done.stdout.splitlines()
    assert (done.returncode, lines[0]) == (
        0,
        f"schema at 0037, to {migrating.head_revision()}: {len(steps(engine))} migrations",
    )
    assert "0047  Indexes for the schedule" in done.stdout
    assert "  online  analysis_requests: index analysis_requests_carried" in lines
    assert "  locks   usage_events (SHARE ROW EXCLUSIVE)" in lines
    assert any(line.startswith("  job_events: about 3,000 rows, ") for line in lines)
    with engine.connect() as connection:
        assert schema_of(connection) == before


def steps(engine: Engine) -> list[str]:
    return [step.revision for step in migrating.plan(engine).steps]


def test_a_plan_in_json_has_the_same(engine: Engine, tmp_path: Path) -> None:
    migrated_to(engine, "0037")
    plan = json.loads(said(engine, tmp_path, "--plan", "--json").stdout)
    assert (plan["revision"], plan["head"]) == ("0037", migrating.head_revision())
    assert plan["steps"][0]["online"].keys() == {"users"}
    assert plan["tables"]["users"]["rows"] == 0


def test_a_new_database_is_planned_from_the_beginning_and_a_migrated_one_has_nothing_to_do(
    engine: Engine, tmp_path: Path
) -> None:
    assert steps(engine)[0] == "0036.1"
    assert migrating.plan(engine).tables == {}
    migrating.migrate(engine)
    assert steps(engine) == []
    assert said(engine, tmp_path, "--plan").stdout == f"schema at {migrating.head_revision()}: nothing to do\n"


def test_a_plan_of_a_newer_database_and_json_of_no_plan_are_refused(engine: Engine, tmp_path: Path) -> None:
    migrating.migrate(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(BadSetting, match=f"revision 9999 .of {VERSION}., which this release {VERSION} does not know"):
        migrating.plan(engine)
    refused = said(engine, tmp_path, "--json")
    assert (refused.returncode, "--json is of --plan" in refused.stderr) == (2, True)
