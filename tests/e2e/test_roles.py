"""The service as an application's role that owns nothing: a job's whole life works, and nothing of the schema can be harmed."""

import os
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import quote
from uuid import uuid4

import psycopg2
import pytest
from celery_durable import schema
from durable_harness.waiting import wait_for
from sqlalchemy import Connection, create_engine, pool, text
from sqlalchemy.engine import make_url
from sqlalchemy.exc import DBAPIError, ProgrammingError
from testlist import PARSER_VERSION

from app import embedded
from app.domain.plans import Tier
from app.embedded import binaries
from app.migrate import migrate
from app.services.accounts import accounts
from app.services.accounts.forget import forget
from app.services.operations.audit import HOLDS, audit
from app.services.operations.queues import pause
from app.services.policy import Policy
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, publishing, raw_connection
from tests.databases import Databases, run_sql
from tests.e2e.conftest import System
from tests.nodes import Nodes
from tests.tiers import proofs

ROOT = Path(__file__).parents[2]
HARM = (
    "CREATE TABLE mine ()", "CREATE TEMP TABLE mine ()", "CREATE SCHEMA mine", "CREATE FUNCTION mine() RETURNS int RETURN 1",
    "DROP FUNCTION durable_facts", "DROP OWNED BY fairlane_owner", "ALTER SCHEMA public RENAME TO mine",
    "CREATE EXTENSION hstore", "CREATE ROLE mine", "ALTER ROLE fairlane_owner PASSWORD 'x'", "SET ROLE fairlane_owner",
    "SET session_replication_role = replica", "COPY users TO '/tmp/users'", "COPY users TO PROGRAM 'cat'",
    "UPDATE alembic_version SET version_num = '0001'", "DELETE FROM alembic_version",
)  # fmt: skip
HARM_OF_A_TABLE = (
    "DROP TABLE {} CASCADE", "TRUNCATE {} CASCADE", "ALTER TABLE {} ADD mine int", "ALTER TABLE {} DISABLE TRIGGER ALL",
    "ALTER TABLE {} OWNER TO CURRENT_USER", "CREATE INDEX ON {} ((1))",
    "CREATE TRIGGER mine AFTER INSERT ON {} EXECUTE FUNCTION suppress_redundant_updates_trigger()",
    "ALTER TABLE {} ENABLE ROW LEVEL SECURITY", "COMMENT ON TABLE {} IS 'mine'",
)  # fmt: skip


@pytest.fixture
def owner_url(server: embedded.Server, databases: Databases) -> Iterator[str]:
    """An empty database of the owner's, as a home has one."""
    with databases.new(as_owner=True) as url:
        name = make_url(url).database
        run_sql(server.admin_url, f"REVOKE ALL ON DATABASE {name} FROM PUBLIC")
        run_sql(server.admin_url, f"GRANT CONNECT ON DATABASE {name} TO {make_url(server.url).username}")
        yield url


@pytest.fixture
def database_url(server: embedded.Server, owner_url: str) -> str:
    """That database, migrated by its owner, as the application's role."""
    url = make_url(server.url).set(database=make_url(owner_url).database)
    migrate(create_engine(owner_url, poolclass=pool.NullPool), role=url.username)
    return url.render_as_string(hide_password=False)


@pytest.fixture
def system(database_url: str, nodes: Nodes, repository: Callable[..., Path]) -> Iterator[System]:
    engine = make_engine(database_url, pool_size=5)
    world = World(UnitOfWork(engine, publishing()), Policy(PARSER_VERSION), datetime.now(UTC))
    yield System(replace(world), nodes, repository)
    engine.dispose()


@pytest.mark.proof
def test_a_web_without_the_owners_address_starts_where_the_owner_has_migrated(nodes: Nodes) -> None:
    argv = [sys.executable, "-m", "app.cli", "migrate", "--allow-newer"]  # as the Procfile's web does first
    done = subprocess.run(argv, cwd=ROOT, env=nodes.environment(), capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")


def refused(connection: Connection, statement: str) -> bool:
    try:
        connection.execute(text(statement))
    except ProgrammingError as error:
        return isinstance(error.orig, psycopg2.errors.InsufficientPrivilege)
    return False


@pytest.mark.proof
def test_the_applications_role_can_harm_nothing_of_the_schema(database_url: str) -> None:
    with raw_connection(database_url) as opened:
        connection = opened.execution_options(isolation_level="AUTOCOMMIT")
        found = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars().all()
        owned = "SELECT count(*) FROM pg_class WHERE relowner = current_user::regrole"
        acts = [*HARM, *(act.format(table) for act in HARM_OF_A_TABLE for table in found)]
        assert len(found) > 20
        assert connection.execute(text(owned)).scalar() == 0
        assert [act for act in acts if not refused(connection, act)] == []


@pytest.mark.proof
def test_the_applications_role_appends_to_the_operators_log_and_changes_nothing_in_it(system: System) -> None:
    world, now = system.world, system.world.uow.now()
    kept = accounts.add_user(world.uow, "kept@example.org", tier=Tier.FREE, actor="cli", now=now)
    gone = accounts.add_user(world.uow, "gone@example.org", tier=Tier.FREE, actor="cli", now=now)
    pause(world.uow, "analysis_default", reason="asked by kept@example.org and gone@example.org", actor="cli")
    said = "SELECT actor, action, subject, facts FROM audit_log ORDER BY id"
    before = world.rows(said)
    assert len(before) == 3
    assert world.rows("UPDATE audit_log SET facts = '{}', actor = 'nobody' RETURNING id") == []
    with raw_connection(system.nodes.database_url) as opened:
        assert refused(opened, "DELETE FROM audit_log")
        opened.rollback()
    assert world.rows(said) == before
    forget(world.uow, gone.user_id, actor="cli", now=now)
    *_, paused, deleted = world.rows(said)
    assert paused["facts"] == {"reason": "asked by kept@example.org and deleted account"}
    assert (deleted["action"], deleted["subject"]) == ("user.delete", "deleted account")
    assert world.rows("SELECT 1 FROM audit_log WHERE subject = :id", id=str(gone.user_id)) == []
    assert len(world.rows("SELECT 1 FROM audit_log WHERE subject = :id", id=str(kept.user_id))) == 1


@pytest.mark.proof
def test_the_whole_life_of_jobs_works_as_the_applications_role(system: System) -> None:
    user = system.user(Tier.FREE)
    jobs = [system.submit(user, name) for name in ("shop", "till", "cart")]  # two of them wait for the user's slot
    worker = system.nodes.worker(processes=2)
    scheduled = system.nodes.worker("analysis_scheduled", "maintenance")
    system.nodes.beat()
    for job_id in jobs:
        system.wait(job_id, "completed")
    sent = "SELECT count(DISTINCT name) FROM schedule_runs"  # every five minutes one is sent again
    wait_for(lambda: system.world.value(sent) == 4, "beat to send everything")
    wait_for(lambda: system.world.value("SELECT count(*) FROM reconciliations"), "maintenance to run")
    node = ["--timeout", "60", "-d", f"node0@{socket.gethostname()}"]
    for arguments in (["control", "add_consumer", "extra"], ["inspect", "ping"], ["control", "enable_events"]):
        done = subprocess.run(
            [sys.executable, "-m", "celery", "-A", "tasks", arguments[0], *node, *arguments[1:]],
            cwd=ROOT, env=system.nodes.environment(), capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
    assert system.world.value("SELECT count(*) FROM kombu_queue WHERE name = 'extra'") == 1
    wait_for(lambda: system.world.value("SELECT count(*) FROM kombu_message") == 0, "all messages to end")
    assert {finding.number for finding in audit(system.world.uow, canaries={}) if finding.status != HOLDS} == set()
    said = worker.container.logs() + scheduled.container.logs() + system.nodes.others[0].logs()
    assert "permission denied" not in said


def test_the_applications_role_may_call_what_runs_with_the_owners_rights(database_url: str, owner_url: str) -> None:
    """As messages are published; nobody else may."""
    engine = create_engine(owner_url, poolclass=pool.NullPool)
    with engine.begin() as connection:
        schema.upgrade(connection)
    migrate(engine, role=make_url(database_url).username)
    with raw_connection(database_url) as connection:
        found = "SELECT proname FROM pg_proc WHERE pronamespace = 'public'::regnamespace AND prosecdef AND "
        mine = connection.execute(text(f"{found} has_function_privilege(oid, 'EXECUTE')")).scalars().all()
        assert "durable_publish" in mine
        assert connection.execute(text(f"{found} NOT has_function_privilege(oid, 'EXECUTE')")).scalars().all() == []
        connection.execute(text("INSERT INTO kombu_queue (name) VALUES ('extra') ON CONFLICT DO NOTHING"))
        publishes = "SELECT durable_publish('extra', '{}', 'one', NULL, NULL, NULL, 100, 'extra')"
        assert connection.execute(text(publishes)).scalar() is not None


#: In the place of the function that finds the parts of a table.
OF_ITS_OWN = """
    CREATE FUNCTION pg_temp.partition_bounds(regclass, OUT part regclass, OUT begins timestamptz, OUT ends timestamptz)
    RETURNS SETOF record LANGUAGE plpgsql AS $$ BEGIN
        GRANT DELETE ON public.audit_log TO PUBLIC;
        RETURN QUERY SELECT 'public.users'::regclass, '-infinity'::timestamptz, 'infinity'::timestamptz;
    END $$"""


@pytest.mark.parametrize(
    "harm",
    [
        f"""CREATE TEMP TABLE webhook_deliveries (happened_at timestamptz) PARTITION BY RANGE (happened_at); {OF_ITS_OWN};
            SELECT public.webhook_deliveries_months('pg_temp.webhook_deliveries', now(), now())""",
        f"""CREATE TEMP TABLE pg_class AS SELECT * FROM pg_catalog.pg_class WHERE relname = 'webhook_deliveries';
            CREATE TEMP TABLE pg_namespace AS SELECT oid, 'pg_temp'::name AS nspname FROM pg_catalog.pg_namespace;
            GRANT SELECT ON pg_class, pg_namespace TO PUBLIC; {OF_ITS_OWN};
            SELECT public.webhook_deliveries_months('public.webhook_deliveries', now(), now())""",
        """CREATE TEMP TABLE pg_class AS SELECT oid, current_user::regrole::oid AS relowner FROM pg_catalog.pg_class;
           UPDATE audit_log SET actor = 'nobody'""",
        """CREATE TEMP TABLE audit_log (at timestamptz, actor text, subject text, facts jsonb);
           CREATE FUNCTION pg_temp.act() RETURNS trigger LANGUAGE plpgsql AS
               'BEGIN GRANT DELETE ON public.audit_log TO PUBLIC; RETURN NULL; END';
           CREATE TRIGGER act BEFORE UPDATE ON audit_log EXECUTE FUNCTION pg_temp.act();
           CREATE TEMP TABLE users AS SELECT gen_random_uuid() AS id, 'ann' AS email, now() AS email_verified_at,
                                             now() AS created_at;
           CREATE TRIGGER leave BEFORE DELETE ON users FOR EACH ROW EXECUTE FUNCTION public.audit_log_forget();
           GRANT ALL ON audit_log, users TO PUBLIC; DELETE FROM users""",
    ],
    ids=["a table", "a catalogue", "a catalogue with owners", "a trigger"],
)
def test_tables_and_functions_of_the_roles_own_turn_no_function_against_the_owner(
    server: embedded.Server, database_url: str, owner_url: str, harm: str
) -> None:
    """Everybody may make temporary tables here, which is PostgreSQL's default."""
    app, owner = make_url(database_url), make_url(owner_url)
    run_sql(server.admin_url, f"GRANT TEMPORARY ON DATABASE {owner.database} TO {app.username}")
    with raw_connection(database_url) as opened:
        opened.execute(text("INSERT INTO audit_log (actor, action, subject, facts) VALUES ('ann', 'a', 'b', '{}')"))
        opened.commit()
        with suppress(DBAPIError):
            opened.exec_driver_sql(harm)
            opened.commit()
    with raw_connection(owner_url) as opened:
        assert opened.execute(text("SELECT actor FROM audit_log")).scalars().all() == ["ann"]
        may = text("SELECT has_table_privilege(:role, 'audit_log', 'DELETE')")
        assert opened.execute(may, {"role": app.username}).scalar() is False


def test_one_role_may_still_be_both(owner_url: str) -> None:
    engine = create_engine(owner_url, poolclass=pool.NullPool)
    assert migrate(engine) == migrate(engine, role=make_url(owner_url).username)


@pytest.mark.proof
@pytest.mark.parametrize(
    "command",
    proofs([["app.cli", "migrate"], ["alembic", "upgrade", "head"]], but=[["app.cli", "migrate"]]),
    ids=["fairlane", "alembic"],
)
def test_migrations_run_as_the_owner_and_give_the_application_its_rights(
    server: embedded.Server, owner_url: str, tmp_path: Path, command: list[str], nodes_environment: dict[str, str]
) -> None:
    url = make_url(server.url).set(database=make_url(owner_url).database).render_as_string(hide_password=False)
    (file := tmp_path / "owner").write_text(owner_url.replace("+psycopg2", "") + "\n")
    environment = nodes_environment | {"DATABASE_URL": url, "DATABASE_OWNER_URL_FILE": str(file)}
    for _ in range(2):
        argv = [sys.executable, "-m", *command]
        done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)
        assert done.returncode == 0, done.stderr
    with raw_connection(url) as connection:
        assert connection.execute(text("UPDATE subscription_plans SET concurrent_jobs = concurrent_jobs")).rowcount == 4
        assert connection.execute(text("SELECT nextval(pg_get_serial_sequence('job_events', 'id'))")).scalar() == 1
        owners = connection.execute(text("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'"))
        assert owners.scalars().all() == [make_url(owner_url).username]


@pytest.mark.proof
def test_a_role_that_is_not_there_is_named(owner_url: str, tmp_path: Path, nodes_environment: dict[str, str]) -> None:
    nobody = make_url(owner_url).set(username="nobody_here").render_as_string(hide_password=False)
    environment = nodes_environment | {"DATABASE_URL": nobody, "DATABASE_OWNER_URL": owner_url}
    argv = [sys.executable, "-m", "app.cli", "migrate"]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("fairlane: DATABASE_URL: the database has no role 'nobody_here'")
    assert len(done.stderr.splitlines()) == 1


@pytest.fixture
def nodes_environment(tmp_path: Path) -> dict[str, str]:
    return Nodes("", tmp_path).environment()


@pytest.fixture
def cluster(server: embedded.Server, tmp_path: Path) -> Iterator[dict[str, str]]:
    """What the script for the roles finds in its container, for a database with tables of the superuser's."""
    name, owner, app = f"test_{uuid4().hex}", f"owner_{uuid4().hex[:8]}", f"app_{uuid4().hex[:8]}"
    admin = make_url(server.admin_url)
    run_sql(server.admin_url, f"CREATE DATABASE {name}")
    for file, role in (("database_owner_url", owner), ("database_url", app)):
        password = quote(
            f"own@er'1:/%41\\ü{uuid4().hex}", safe="'\\"
        )  # as operating.md asks for: special characters as %XX
        url = f"postgresql://{role}:{password}@127.0.0.1:{admin.port}/{name}"
        (tmp_path / file).write_text(f"{url}\n")
    (tmp_path / "postgres_password").write_text(f"{admin.password}\n")
    folder = binaries.binaries()
    assert folder is not None
    yield {
        "PATH": f"{folder}:{os.environ['PATH']}", "SECRETS": str(tmp_path), "POSTGRES_USER": str(admin.username),
        "POSTGRES_DB": name, "PGHOST": "127.0.0.1", "PGPORT": str(admin.port),
    }  # fmt: skip
    run_sql(server.admin_url, f"DROP DATABASE {name} WITH (FORCE)")
    for role in (owner, app):
        run_sql(server.admin_url, f"DROP ROLE IF EXISTS {role}")


@pytest.mark.proof
@pytest.mark.parametrize("older", proofs([False, True], but=[True]), ids=["new", "of the release with one role"])
def test_the_containers_script_makes_both_roles_and_divides_what_one_owned(
    server: embedded.Server, cluster: dict[str, str], tmp_path: Path, older: bool, nodes_environment: dict[str, str]
) -> None:
    if older:
        url = make_url(server.admin_url).set(database=cluster["POSTGRES_DB"])
        migrate(create_engine(url, poolclass=pool.NullPool))
    for _ in range(2):
        script = ["sh", str(ROOT / "docker" / "postgres" / "roles.sh")]
        done = subprocess.run(script, env=cluster, capture_output=True, text=True, timeout=240, check=False)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    files = {"DATABASE_URL_FILE": str(tmp_path / "database_url")}
    files["DATABASE_OWNER_URL_FILE"] = str(tmp_path / "database_owner_url")
    environment = {name: value for name, value in nodes_environment.items() if name != "DATABASE_URL"} | files
    argv = [sys.executable, "-m", "app.cli", "migrate"]
    done = subprocess.run(argv, cwd=ROOT, env=environment, capture_output=True, text=True, timeout=240, check=False)
    assert done.returncode == 0, done.stderr
    with raw_connection((tmp_path / "database_url").read_text().strip().replace("://", "+psycopg2://", 1)) as app:
        assert app.execute(text("UPDATE subscription_plans SET concurrent_jobs = concurrent_jobs")).rowcount == 4
        rights = text("SELECT rolsuper OR rolcreatedb OR rolcreaterole FROM pg_roles WHERE rolname = current_user")
        assert app.execute(rights).scalar() is False
        owners = app.execute(text("SELECT DISTINCT tableowner FROM pg_tables WHERE schemaname = 'public'")).scalars()
        assert [owner.startswith("owner_") for owner in owners] == [True]
        assert refused(app, "DROP TABLE users")


@pytest.mark.proof
def test_the_owner_makes_the_directory_in_its_database_and_the_service_works_with_its_rows(
    nodes: Nodes, owner_url: str, server: embedded.Server
) -> None:
    url = make_url(server.url).set(database=make_url(owner_url).database).render_as_string(hide_password=False)
    env = nodes.environment(DATABASE_URL=url, DATABASE_OWNER_URL=owner_url, DIRECTORY_URL=url, CELLS=f"eu1={url}")
    for said in ("the directory of cells was made", "schema at"):
        argv = [sys.executable, "-m", "app.cli", "migrate"]
        done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True)
        assert (done.returncode, done.stderr) == (0, "")
        assert said in done.stdout
    with raw_connection(url) as opened:
        connection = opened.execution_options(isolation_level="AUTOCOMMIT")
        digest = {"digest": b"x" * 32, "id": str(uuid4())}
        row = "INSERT INTO directory.accounts (user_id, cell, address_digest) VALUES (:id, 'eu1', :digest)"
        connection.execute(text(row), digest)
        assert connection.execute(text("SELECT count(*) FROM directory.accounts")).scalar() == 1
        connection.execute(text("DELETE FROM directory.accounts"))
        for harm in ("TRUNCATE directory.accounts", "CREATE TABLE directory.mine ()", "DROP SCHEMA directory CASCADE"):
            assert refused(connection, harm), harm
