"""A database that is away, not migrated or refuses is one line of the command line, and exit code 4."""

from __future__ import annotations

import socket
import subprocess
import sys
from pathlib import Path
from uuid import uuid4

import psycopg2
import pytest
from click.testing import CliRunner
from durable_harness.environment import bare_environment
from sqlalchemy import create_engine, pool
from sqlalchemy.engine import make_url
from sqlalchemy.exc import IntegrityError

from app import embedded
from app.cli import main
from app.cli.refusals import sentence
from app.migrate import migrate
from app.services.accounts import tokens
from tests.conftest import NOW, World, raw_connection
from tests.contract.conftest import ROOT
from tests.databases import run_sql
from tests.tiers import few, proofs

#: What a command may take on a busy machine.
SECONDS = 600
COMMANDS = (
    ["queues"], ["queues", "--json"], ["pause", "analysis_default"], ["resume", "analysis_default"], ["dead"],
    ["dead", "redrive", "1"], ["dead", "drop", "1", "--yes"], ["audit"], ["sweep"], ["sweep", "--dry-run"],
    ["user", "add", "ann@example.org"], ["user", "tier", "ann@example.org", "pro"], ["user", "link", "ann@example.org"],
    ["user", "limit", "ann@example.org", "3"], ["tier", "list"], ["tier", "limit", "free", "2"],
    ["token", "add", "ann@example.org"], ["fairness"], ["simulate", "--from", "database"],
)  # fmt: skip


@pytest.fixture
def closed_port() -> int:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return int(taken.getsockname()[1])


def told(monkeypatch: pytest.MonkeyPatch, url: str, arguments: list[str]) -> str:
    """The one line on stderr of a command that ended with 4."""
    monkeypatch.setenv("DATABASE_URL", url)
    done = CliRunner().invoke(main, arguments)
    assert (done.exit_code, done.stdout) == (4, ""), (arguments, done.output, done.exception)
    [line] = done.stderr.splitlines()
    assert str(make_url(url).password) not in line
    return line


@pytest.mark.parametrize("arguments", [*COMMANDS, ["migrate"]], ids=" ".join)
def test_a_database_that_is_away_is_one_line(
    monkeypatch: pytest.MonkeyPatch, closed_port: int, arguments: list[str]
) -> None:
    line = told(monkeypatch, f"postgresql://ann:hunter2-hunter2@127.0.0.1:{closed_port}/d", arguments)
    assert line.startswith(
        f'fairlane: the database does not answer: connection to server at "127.0.0.1", port {closed_port}'
    )


def test_a_database_without_a_schema_is_one_line_that_says_what_to_run(
    monkeypatch: pytest.MonkeyPatch, empty_url: str
) -> None:
    for arguments in COMMANDS:
        line = told(monkeypatch, empty_url, arguments)
        assert line.startswith("fairlane: the database lacks ")
        assert "run `fairlane migrate`" in line


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"password": "hunter2-hunter2"}, 'password authentication failed for user "app"'),
        ({"database": "not_there"}, 'database "not_there" does not exist'),
        ({"host": "no-such-host.invalid"}, "no-such-host.invalid"),
        ({"query": {"sslmode": "require"}}, "SSL"),
        ({"query": {"nonsense": "1"}}, "nonsense"),
        ({"query": {"sslmode": "nonsense"}}, "nonsense"),
    ],
    ids=str,
)
def test_a_server_that_refuses_is_quoted(
    monkeypatch: pytest.MonkeyPatch, server: embedded.Server, change: dict[str, object], said: str
) -> None:
    url = make_url(server.url).set(**change).render_as_string(hide_password=False)  # type: ignore[arg-type]
    for arguments in (["queues"], ["migrate"], ["user", "add", "ann@example.org"]):
        assert said in told(monkeypatch, url, arguments)


@pytest.mark.proof
def test_a_role_without_rights_is_told_how_to_get_them(
    monkeypatch: pytest.MonkeyPatch, server: embedded.Server, empty_url: str
) -> None:
    owned = make_url(server.admin_url).set(database=make_url(empty_url).database)
    migrate(create_engine(owned, poolclass=pool.NullPool))
    line = told(monkeypatch, empty_url, ["queues"])
    assert "permission denied" in line
    assert "`fairlane migrate` as the tables' owner" in line


def test_a_database_that_takes_no_writes_says_so(
    monkeypatch: pytest.MonkeyPatch, server: embedded.Server, database_url: str
) -> None:
    name = make_url(database_url).database
    run_sql(server.admin_url, f"ALTER DATABASE {name} SET default_transaction_read_only = on")
    assert "accepts no writes" in told(monkeypatch, database_url, ["user", "add", "ann@example.org"])


@pytest.mark.parametrize(
    "arguments", few(1, [["queues"], ["migrate"], ["up", "--no-open", "--port", "18123"]]), ids=" ".join
)
def test_processes_end_with_the_line_and_the_code(tmp_path: Path, closed_port: int, arguments: list[str]) -> None:
    kept = bare_environment()
    environment = kept | {"DATABASE_URL": f"postgresql://127.0.0.1:{closed_port}/d", "FAIRLANE_HOME": str(tmp_path)}
    environment["FAIRNES_MODE"] = "off"
    argv = [sys.executable, "-m", "app.cli", *arguments]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    lines = done.stderr.splitlines()
    assert (done.returncode, len(lines)) == (4, 2), done.stderr
    assert lines[0] == "fairlane: FAIRNES_MODE is not a setting; did you mean FAIRNESS_MODE?"
    assert lines[1].startswith("fairlane: the database does not answer: ")


@pytest.mark.proof
@pytest.mark.parametrize(
    "program", [["app.cli", "queues"], ["celery", "-A", "tasks", "beat"]], ids=["fairlane", "celery"]
)
def test_a_bad_setting_is_one_line_of_any_program(tmp_path: Path, program: list[str]) -> None:
    kept = bare_environment()
    environment = kept | {"FAIRLANE_HOME": str(tmp_path), "SECRET_KEY": "hunter2"}
    argv = [sys.executable, "-m", *program]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 1
    assert [line for line in done.stderr.splitlines() if "Traceback" in line or "hunter2" in line] == []
    assert "fairlane: SECRET_KEY=(not shown): expected at least 16 characters" in done.stderr


def test_an_error_of_our_own_is_no_refusal() -> None:
    assert sentence(ValueError("x")) is None
    assert sentence(IntegrityError("x", {}, psycopg2.errors.UniqueViolation("x"))) is None


def test_an_account_that_is_gone_meanwhile_is_one_line(world: World) -> None:
    with pytest.raises(IntegrityError) as refused:
        tokens.add_token(world.uow, uuid4(), now=NOW)
    assert (
        sentence(refused.value) == "the account is not in this database any more: it was deleted or has moved meanwhile"
    )


@pytest.mark.proof
@pytest.mark.parametrize("driver", proofs(["postgresql", "postgres", "postgresql+psycopg2"], but=["postgres"]))
def test_alembic_works_without_the_source_tree_and_with_any_spelling(
    empty_url: str, tmp_path: Path, driver: str
) -> None:
    (tmp_path / "alembic.ini").write_text((ROOT / "alembic.ini").read_text())
    kept = bare_environment()
    environment = kept | {"DATABASE_URL": empty_url.replace("postgresql+psycopg2", driver)}
    alembic = Path(sys.executable).with_name("alembic")
    for arguments in (["upgrade", "head"], ["current"], ["heads"]):
        done = subprocess.run(
            [alembic, *arguments],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=SECONDS,
            check=False,
        )
        assert done.returncode == 0, done.stderr
    with raw_connection(empty_url) as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM kombu_queue").scalar() == 7
