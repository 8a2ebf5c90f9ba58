"""Migrations: one line of numbered files, there and back again, by many hosts at once."""

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from alembic import command
from alembic.script import Script, ScriptDirectory
from celery_durable import schema as broker_schema
from durable_harness.waiting import wait_for
from sqlalchemy import Engine, create_engine, pool, text

from app import migrate as migrating
from app.errors import BadSetting
from app.store.core.schema import revision
from app.store.results import explore
from app.version import VERSION
from tests.conftest import raw_connection
from tests.contract.catalogs import schema_of
from tests.contract.conftest import ROOT

VERSIONS = ROOT / "migrations" / "versions"
FILES = sorted(path for path in VERSIONS.glob("*.py") if path.name != "__init__.py")
SCRIPTS = ScriptDirectory.from_config(migrating._config())
REVISIONS = [script.revision for script in SCRIPTS.walk_revisions()][::-1]
LOCK = "SELECT pg_advisory_lock(1717660018)"  # env.LOCK
IN_TRANSACTION = """
    SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"""


def run(engine: Engine, action: str, revision: str) -> None:
    """As `alembic upgrade|downgrade REVISION`."""
    config = migrating._config()
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        getattr(command, action)(config, revision)


def schema(engine: Engine) -> dict[str, str]:
    with engine.connect() as connection:
        return schema_of(connection)


def test_there_is_one_head_and_it_is_the_newest_file() -> None:
    assert SCRIPTS.get_heads() == [REVISIONS[-1]] == [migrating.head_revision()]
    assert SCRIPTS.get_bases() == [REVISIONS[0]] == ["0036.1"]


def test_files_are_numbered_without_gaps_and_each_follows_the_one_before() -> None:
    """Those before 0037 are parts of what was folded; no revision of before the fold has such a name."""
    numbers = [f"0036.{n}" for n in range(1, 6)] + [f"{n:04}" for n in range(37, 37 + len(FILES) - 5)]
    assert numbers == REVISIONS
    for path, number, before in zip(FILES, numbers, [None, *numbers], strict=False):
        assert re.fullmatch(rf"{number.replace('.', '_')}_[a-z][a-z_]*\.py", path.name)
        script = SCRIPTS.get_revision(number)
        assert (Path(script.path).name, script.down_revision) == (path.name, before)


def test_each_sql_file_is_of_a_migration_by_its_number() -> None:
    numbers = {re.match(r"(0036_\d|\d{4})_", path.name)[1] for path in FILES}  # type: ignore[index]
    assert {path.name for path in VERSIONS.glob("*.sql") if not path.name.startswith(tuple(numbers))} == set()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_migration_imports_nothing_of_the_service(path: Path) -> None:
    """Its SQL is frozen; the broker's own comes from its package, which has versions."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {alias.name for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)}
    imported = {alias.name for node in ast.walk(tree) if isinstance(node, ast.ImportFrom) for alias in node.names}
    assert {name.split(".")[0] for name in names} - sys.stdlib_module_names <= {
        "alembic",
        "sqlalchemy",
        "celery_durable",
        "migrations",
    }
    assert not any(name.startswith("celery_durable.") for name in names)
    assert "celery_durable" not in names or "schema" in imported
    assert "migrations" not in names or "online" in imported


def test_a_migration_brings_the_brokers_newest_version() -> None:
    brought = [getattr(SCRIPTS.get_revision(revision).module, "BROKER_VERSION", 0) for revision in REVISIONS]
    assert max(brought) == broker_schema.VERSION
    assert [version for version in brought if version] == list(range(broker_schema.OLDEST, broker_schema.VERSION + 1))


@pytest.mark.proof
def test_each_migration_can_be_taken_back_and_made_again_without_drift(engine: Engine) -> None:
    run(engine, "upgrade", REVISIONS[0])
    for target in REVISIONS[1:]:
        before = schema(engine)
        run(engine, "upgrade", target)
        after = schema(engine)
        assert after != before
        run(engine, "downgrade", "-1")
        assert schema(engine) == before
        run(engine, "upgrade", target)
        assert schema(engine) == after


@pytest.mark.proof
def test_all_the_way_down_nothing_is_left_and_up_again_all_is_as_it_was(engine: Engine) -> None:
    migrating.migrate(engine)
    first = schema(engine)
    run(engine, "downgrade", "base")
    assert {what for what in schema(engine) if "alembic_version" not in what} == set()
    migrating.migrate(engine)
    assert schema(engine) == first


@pytest.mark.proof
def test_the_files_of_migrations_are_read_outside_of_a_transaction(
    engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[int] = []

    def looking(scripts: ScriptDirectory) -> Iterator[Script]:
        with create_engine(engine.url, poolclass=pool.NullPool).connect() as other:
            seen.append(other.execute(text(IN_TRANSACTION)).scalar_one())
        return walk(scripts)

    walk = ScriptDirectory.walk_revisions
    monkeypatch.setattr(ScriptDirectory, "walk_revisions", looking)
    migrating.migrate(engine)
    assert seen == [0]


def test_migrating_twice_changes_nothing_and_keeps_the_rows(engine: Engine) -> None:
    assert migrating.migrate(engine) == REVISIONS[-1]
    before = schema(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE subscription_plans SET concurrent_jobs = 2 WHERE tier = 'free'"))
    assert migrating.migrate(engine) == REVISIONS[-1]
    assert schema(engine) == before
    with engine.connect() as connection:
        plan = connection.execute(text("SELECT concurrent_jobs FROM subscription_plans WHERE tier = 'free'"))
        assert plan.scalar_one() == 2


@pytest.mark.proof
def test_four_processes_that_migrate_at_once_all_succeed(engine: Engine, empty_url: str, tmp_path: Path) -> None:
    env = os.environ | {"DATABASE_URL": empty_url, "FAIRLANE_HOME": str(tmp_path)}
    argv = [sys.executable, "-m", "app.cli", "migrate"]
    started = [
        subprocess.Popen(argv, cwd=ROOT, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        for _ in range(4)
    ]
    printed = [process.communicate(timeout=240)[0] for process in started]
    assert printed == [f"schema at {REVISIONS[-1]}\n"] * 4
    assert [process.returncode for process in started] == [0] * 4
    with engine.connect() as connection:
        assert connection.execute(text("SELECT count(*) FROM kombu_queue")).scalar_one() == 7


@pytest.mark.proof
def test_a_host_waits_for_another_one_that_migrates_longer_than_a_lock_may_be_waited_for(empty_url: str) -> None:
    hasty = create_engine(empty_url, poolclass=pool.NullPool, connect_args={"options": "-c lock_timeout=1ms"})
    # between two tries, with no snapshot for which an index that the other host builds would wait
    waiting = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND query = 'COMMIT'"
    with raw_connection(empty_url) as other, ThreadPoolExecutor(1) as thread:
        other.execution_options(isolation_level="AUTOCOMMIT").execute(text(LOCK))
        migrated = thread.submit(migrating.migrate, hasty)
        wait_for(lambda: migrated.done() or other.execute(text(waiting)).scalar_one(), "the second host to wait")
        assert not migrated.done()
        other.invalidate()  # the first host is done
        assert migrated.result(timeout=30) == REVISIONS[-1]


def test_a_newer_schema_is_refused_and_left_alone(engine: Engine) -> None:
    migrating.migrate(engine)
    with engine.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    before = schema(engine)
    with pytest.raises(BadSetting, match=f"revision 9999 .of {VERSION}., which this release {VERSION} does not know"):
        migrating.migrate(engine)
    assert migrating.migrate(engine, allow_newer=True) == "9999"
    assert schema(engine) == before
    with engine.connect() as connection:
        assert revision(connection) == "9999"


@pytest.fixture
def folded(engine: Engine) -> Engine:
    """A database as the migrations before the fold may have left it."""
    with engine.begin() as connection:
        connection.execute(text("CREATE TABLE alembic_version (version_num varchar(32) NOT NULL)"))
        connection.execute(text("INSERT INTO alembic_version VALUES ('0017')"))
    return engine


TOLD = "at revision 0017, and this release migrates from 0037 on: first run `fairlane migrate` of 0.1.0, which is"


@pytest.mark.proof
@pytest.mark.parametrize("allow_newer", [False, True])
def test_a_database_from_before_the_fold_is_left_alone_and_told_what_to_pass_through(
    folded: Engine, allow_newer: bool
) -> None:
    for older in (*(f"{number:04}" for number in range(1, 37)), "0000.3"):
        with folded.begin() as connection:
            connection.execute(text("UPDATE alembic_version SET version_num = :revision"), {"revision": older})
        before = schema(folded)
        with pytest.raises(BadSetting) as refused:
            migrating.migrate(folded, allow_newer=allow_newer)
        assert TOLD.replace("0017", older) in str(refused.value)
        assert schema(folded) == before


@pytest.mark.proof
@pytest.mark.parametrize("command", [["app.cli", "migrate"], ["alembic", "upgrade", "head"]], ids=" ".join)
def test_both_commands_say_so(folded: Engine, empty_url: str, tmp_path: Path, command: list[str]) -> None:
    env = os.environ | {"DATABASE_URL": empty_url, "FAIRLANE_HOME": str(tmp_path)}
    done = subprocess.run([sys.executable, "-m", *command], cwd=ROOT, env=env, capture_output=True, text=True)
    assert done.returncode == 1
    assert TOLD in done.stderr


def test_what_is_to_be_passed_through_migrates_to_0037() -> None:
    argv = ["git", "ls-tree", "--name-only", migrating.ITS_COMMIT, "migrations/versions/"]
    listed = subprocess.run(argv, cwd=ROOT, capture_output=True, text=True)
    if listed.returncode:
        pytest.skip(f"commit {migrating.ITS_COMMIT} is not in this clone: {listed.stderr.strip()}")
    names = [Path(line).name for line in listed.stdout.splitlines()]
    numbers = {found[1].replace("_", ".") for name in names if (found := re.match(r"(0000_\d|\d{4})_", name))}
    assert numbers - {"0037"} < migrating.FOLDED
    assert {number for number in migrating.FOLDED if number >= "0025"} == {n for n in numbers - {"0037"} if n >= "0025"}
    assert not migrating.FOLDED & set(REVISIONS)


@pytest.mark.proof
def test_the_alembic_command_works_with_nothing_but_the_url(empty_url: str) -> None:
    argv = [sys.executable, "-m", "alembic", "upgrade", "head"]
    done = subprocess.run(argv, cwd=ROOT, env=os.environ | {"DATABASE_URL": empty_url}, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    with raw_connection(empty_url) as connection:
        assert revision(connection) == REVISIONS[-1]


def test_a_database_never_migrated_has_no_revision(empty_url: str) -> None:
    with raw_connection(empty_url) as connection:
        assert revision(connection) is None


@pytest.mark.proof
def test_a_server_that_refuses_the_extension_for_searches_is_migrated_all_the_same(
    engine: Engine, empty_url: str
) -> None:
    with engine.begin() as connection:
        connection.execute(text("CREATE SCHEMA trigrams"))  # so that the migration may not make it
    migrating.migrate(engine)
    with engine.begin() as connection:
        assert connection.execute(text("SELECT to_regclass('codebases_address_parts')")).scalar_one() is None
        connection.execute(
            text(
                "INSERT INTO codebases (id, host, owner, name, created_at, last_viewed_at)"
                " VALUES (gen_random_uuid(), 'github.com', 'acme', 'shop', now(), now())"
            )
        )
        found = connection.execute(
            text(f"EXPLAIN {explore._FOUND.text}"),
            {"pattern": "%sho%", "local": "local", "with_local": False, "most": 1},
        )
        assert found.all()
    run(engine, "downgrade", "0039")
    with engine.begin() as connection:
        assert connection.execute(text("SELECT to_regnamespace('trigrams')")).scalar_one() is not None
