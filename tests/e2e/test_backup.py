"""`fairlane backup` and `fairlane restore`: beside traffic, after a kill, with damaged files, and where they refuse (docs/adr/0082)."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import create_engine, pool, text
from sqlalchemy.engine import make_url

from app import dumps, embedded, postgres_programs, restores
from app.domain.plans import Tier
from app.errors import Problem
from app.migrate import head_revision, migrate
from app.services.operations.audit import HOLDS, audit
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.store.operations.invariants import ALL
from tests.conftest import World, publishing, raw_connection
from tests.contract.catalogs import schema_of
from tests.databases import Databases
from tests.e2e.conftest import System
from tests.nodes import ROOT, Nodes
from tests.services.busy import fill

KEY = "the secret key of this test"
QUEUES = ("analysis_priority", "analysis_default")
NEEDS = ("pg_dump", "pg_restore", "psql")
pytestmark = [
    pytest.mark.proof,
    pytest.mark.skipif(
        not all(embedded.clients(name) for name in NEEDS),
        reason="needs pg_dump, pg_restore and psql: the embedded wheel",
    ),
]


@pytest.fixture
def target(databases: Databases) -> Iterator[str]:
    """An empty database to restore into."""
    with databases.new() as url:
        yield url


def command(nodes: Nodes, *arguments: str, url: str | None = None) -> subprocess.CompletedProcess[str]:
    env = nodes.environment(SECRET_KEY=KEY, **({"DATABASE_URL": url} if url else {}))
    argv = [sys.executable, "-m", "app.cli", *arguments]
    return subprocess.run(argv, cwd=ROOT, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True)


def done(nodes: Nodes, *arguments: str, url: str | None = None) -> str:
    """The output of a command that has to end with 0."""
    ended = command(nodes, *arguments, url=url)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


def refused(nodes: Nodes, *arguments: str, url: str | None = None) -> str:
    """Run a command that has to end with code 1; its one line."""
    ended = command(nodes, *arguments, url=url)
    assert (ended.returncode, len(ended.stderr.strip().splitlines())) == (1, 1), ended.stdout + ended.stderr
    return ended.stderr


def without_overloads(schema: dict[str, str]) -> dict[str, str]:
    """List what the schema has.  Of functions that share a name the catalogue tells one or the other."""
    return {what: how for what, how in schema.items() if what != "function broker_limit"}


def world_of(url: str) -> World:
    return World(UnitOfWork(make_engine(url, pool_size=2), publishing()))


def counts(url: str) -> dict[str, int]:
    """Rows by table: a database that was not touched has the same."""
    with raw_connection(url) as connection:
        names = connection.execute(text("SELECT tablename FROM pg_tables WHERE schemaname = 'public'")).scalars().all()
        return {name: connection.execute(text(f"SELECT count(*) FROM {name}")).scalar_one() for name in names}


@pytest.fixture
def dumped(world: World, nodes: Nodes, tmp_path: Path) -> Path:
    """A dump of jobs in every state."""
    fill(world)
    done(nodes, "backup", str(tmp_path / "a.dump"))
    return tmp_path / "a.dump"


@pytest.mark.proof
def test_jobs_of_a_backup_beside_traffic_run_after_the_restore_and_are_billed_once(
    system: System, databases: Databases, target: str, tmp_path: Path
) -> None:
    nodes, file = system.nodes, tmp_path / "a.dump"
    users = [system.user(Tier.PRO), system.user(Tier.FREE)]
    jobs = [system.submit(user, "slow") for user in users]  # these run on until the node is killed
    jobs += [system.submit(user, f"shop{n}") for n in range(3) for user in users]
    worker = system.stalling_worker(*QUEUES, processes=3)
    running = (
        "SELECT count(*) FROM durable_lease l JOIN durable_message m ON m.id = l.id WHERE m.task_id IN (:one, :two)"
    )
    running = f"{running} AND l.started_at IS NOT NULL"
    ids = {"one": str(jobs[0]), "two": str(jobs[1])}
    wait_for(lambda: system.world.value(running, **ids) == 2, "both to run")
    done(nodes, "backup", str(file))
    later = system.submit(users[0], "later")
    worker.container.kill()
    assert "schema at" in done(nodes, "restore", str(file), url=target)

    with databases.engine(target) as engine:
        restored = replace(system, world=replace(system.world, uow=UnitOfWork(engine, publishing())))
        unfinished = restored.world.value("SELECT count(*) FROM durable_message")
        assert unfinished >= 4  # those, and the two that wait for the slot of the second user
        nodes.worker(*QUEUES, processes=2, DATABASE_URL=target)
        for job_id in jobs:
            assert restored.wait(job_id, "completed", "failed")["status"] == "completed"
        bills = "SELECT job_id, count(*) AS bills FROM usage_events GROUP BY job_id"
        assert {row["job_id"]: row["bills"] for row in restored.world.rows(bills)} == dict.fromkeys(jobs, 1)
        assert restored.world.rows("SELECT 1 FROM analysis_requests WHERE job_id = :id", id=later) == []
        wait_for(lambda: restored.world.value("SELECT count(*) FROM durable_message") == 0, "the messages to end")
        assert [finding.number for finding in audit(restored.world.uow) if finding.status != HOLDS] == []


def test_a_restored_database_is_the_one_that_was_dumped(
    world: World, nodes: Nodes, database_url: str, dumped: Path, target: str
) -> None:
    said = done(nodes, "restore", str(dumped), url=target)
    assert "its checksum is right" in said
    numbers = {line.split()[1] for line in said.splitlines() if " holds " in line}
    assert numbers == {invariant.number for invariant in ALL} - {"I9"}
    before, after = counts(database_url), counts(target)
    ephemeral = ("kombu_broadcast", "kombu_judgement", "rate_buckets", "host_clocks", "audit_log")
    assert {name: n for name, n in after.items() if name not in ephemeral} == {
        name: n for name, n in before.items() if name not in ephemeral
    }
    with raw_connection(database_url) as one, raw_connection(target) as other:
        assert without_overloads(schema_of(one)) == without_overloads(schema_of(other))
    acts = "SELECT action FROM audit_log WHERE action LIKE 'database.%' ORDER BY id"
    assert world.rows(acts) == [{"action": "database.backup"}]
    restored = world_of(target)
    # a dump is older than the line about it
    assert restored.rows(acts) == [{"action": "database.restore"}]
    restored.uow.engine.dispose()


def test_a_backup_is_private_whole_and_never_replaces_another_unasked(nodes: Nodes, dumped: Path) -> None:
    assert [path.stat().st_mode & 0o777 for path in (dumped, dumped.with_name("a.dump.sha256"))] == [0o600, 0o600]
    before = dumped.read_bytes()
    beside = dumped.with_name("a.dump.sha256").read_text()
    assert beside == f"{hashlib.sha256(before).hexdigest()}  a.dump\n"
    assert "--force" in refused(nodes, "backup", str(dumped))
    assert dumped.read_bytes() == before
    left = dumped.with_name(".a.dump.01234567.part")
    left.write_bytes(b"of a killed one")
    assert "keep in another place" in done(nodes, "backup", "--force", str(dumped))
    assert dumped.read_bytes() != before
    assert sorted(path.name for path in dumped.parent.glob("*a.dump*")) == ["a.dump", "a.dump.sha256"]
    assert "No such file" in refused(nodes, "backup", str(dumped.parent / "nowhere" / "a.dump"))


def test_a_backup_that_fails_leaves_the_former_one(nodes: Nodes, dumped: Path, database_url: str) -> None:
    before = dumped.read_bytes()
    with raw_connection(database_url) as connection:
        connection.execute(text("CREATE FUNCTION boom() RETURNS text LANGUAGE plpgsql AS 'BEGIN RAISE ''boom''; END'"))
        connection.execute(
            text("CREATE TABLE broken (id int); ALTER TABLE broken ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY")
        )
        connection.commit()
    assert "pg_dump failed" in refused(nodes, "backup", "--force", str(dumped))
    assert dumped.read_bytes() == before
    assert sorted(path.name for path in dumped.parent.glob("*a.dump*")) == ["a.dump", "a.dump.sha256"]


A_BYTE = "a byte changed"


def changed(content: bytes) -> Iterator[tuple[str, bytes]]:
    middle = len(content) // 2
    yield "cut off", content[:middle]
    yield A_BYTE, content[:middle] + bytes([content[middle] ^ 0xFF]) + content[middle + 1 :]
    yield "no dump", b"PGDMP is what a dump begins with"
    yield "empty", b""


@pytest.mark.parametrize("with_checksum", [True, False])
def test_a_damaged_file_changes_nothing(nodes: Nodes, dumped: Path, database_url: str, with_checksum: bool) -> None:
    before, damaged = counts(database_url), dict(changed(dumped.read_bytes()))
    if not with_checksum:
        dumped.with_name("a.dump.sha256").unlink()
        del damaged[A_BYTE]  # it may be one of a text, which is as good as another
    for how, content in damaged.items():
        dumped.write_bytes(content)
        said = refused(nodes, "restore", "--yes", str(dumped))
        assert any(one in said for one in ("damaged or incomplete", "cannot be read")), (how, said)
        assert counts(database_url) == before, how


def test_what_cannot_be_read_to_its_end_is_not_committed(nodes: Nodes, dumped: Path, database_url: str) -> None:
    """The file is damaged after it was checked."""
    before, dump = counts(database_url), dumps.look_into(dumped)
    dumped.write_bytes(dumped.read_bytes()[: dump.bytes // 2])
    with pytest.raises(dumps.DumpRefused, match="nothing was restored"):
        restores.restore(database_url, dump, server=embedded.clients("psql")[-1].major, watch=lambda _: None)
    assert counts(database_url) == before


def test_a_restore_replaces_what_is_there_only_if_it_may(
    nodes: Nodes, dumped: Path, world: World, database_url: str
) -> None:
    before = counts(database_url)
    world.user()
    assert "--yes" in refused(nodes, "restore", str(dumped))
    with raw_connection(database_url) as connection:
        connection.execute(text("CREATE TABLE of_a_later_release (id int PRIMARY KEY)"))
        connection.commit()
    done(nodes, "restore", "--yes", str(dumped))
    after = counts(database_url)
    assert (after["users"], "of_a_later_release" in after) == (before["users"], False)


def test_a_restore_refuses_while_nodes_live_and_names_them(system: System, target: str, tmp_path: Path) -> None:
    file = tmp_path / "a.dump"
    done(system.nodes, "backup", str(file))
    worker = system.nodes.worker()
    assert f":{worker.container.pid}" in refused(system.nodes, "restore", "--yes", str(file))
    worker.container.kill()
    gone = "SELECT count(*) FROM broker_node WHERE is_alive"
    wait_for(lambda: system.world.value(gone) == 0, "its session to end")
    wait_for(
        lambda: "restored in" in command(system.nodes, "restore", "--yes", str(file)).stdout,
        "its other sessions to end",
    )


@pytest.mark.parametrize("what", ["a newer schema", "another service", "another service's dump"])
def test_a_restore_refuses_what_does_not_fit(
    nodes: Nodes, world: World, dumped: Path, target: str, tmp_path: Path, what: str
) -> None:
    said = {
        "a newer schema": "use a newer one",
        "another service": "none of this service",
        "another service's dump": "no revision",
    }
    file = tmp_path / "b.dump"
    if what == "a newer schema":
        world.rows("UPDATE alembic_version SET version_num = '9999' RETURNING 1")
        done(nodes, "backup", str(file))
    else:
        with raw_connection(target) as connection:
            connection.execute(text("CREATE TABLE theirs (id int)"))
            connection.commit()
        file = dumped
        if what != "another service":
            file = tmp_path / "b.dump"
            to = postgres_programs.address(target)
            program = embedded.clients("pg_dump")[-1].path
            postgres_programs.run([program, "--format=custom", f"--file={file}", f"--dbname={to.dsn}"], to)
            with raw_connection(target) as connection:
                connection.execute(text("DROP TABLE theirs"))
                connection.commit()
    assert said[what] in refused(nodes, "restore", "--yes", str(file), url=target)
    assert set(counts(target)) <= {"theirs"}


@pytest.mark.proof
def test_a_restore_that_is_killed_changes_nothing_and_can_be_run_again(
    nodes: Nodes, world: World, dumped: Path, database_url: str, tmp_path: Path
) -> None:
    world.rows(
        "INSERT INTO job_events (job_id, event, facts) SELECT gen_random_uuid(), 'started', to_jsonb(repeat(md5(n::text), 20)) FROM generate_series(1, 60000) n RETURNING id"
    )
    done(nodes, "backup", str(tmp_path / "big.dump"))
    whole = counts(database_url)
    for _ in range(5):
        before = killed_restore(nodes, world, tmp_path / "big.dump", database_url)
        if counts(database_url) != whole:  # else it was faster
            break
    assert counts(database_url) == before
    done(nodes, "restore", "--yes", str(tmp_path / "big.dump"))
    assert counts(database_url)["job_events"] > before["job_events"]


def killed_restore(nodes: Nodes, world: World, dump: Path, database_url: str) -> dict[str, int]:
    """Delete half of the events, and kill a restore while it copies them; what there was before it."""
    world.rows("DELETE FROM job_events WHERE id % 2 = 0 RETURNING id")
    before = counts(database_url)
    argv = [sys.executable, "-m", "app.cli", "restore", "--yes", str(dump)]
    busy = "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'fairlane cli' AND query LIKE 'COPY public.job_events%'"
    process = subprocess.Popen(
        argv, cwd=ROOT, env=nodes.environment(SECRET_KEY=KEY), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    wait_for(lambda: world.value(busy) or process.poll() is not None, "rows to be copied")
    assert process.poll() in (None, 0)
    process.kill()
    process.wait()
    wait_for(lambda: world.value(busy) == 0, "the session to end")
    return before


@pytest.mark.proof
def test_no_password_is_among_the_arguments(nodes: Nodes, world: World, database_url: str, tmp_path: Path) -> None:
    password = str(make_url(database_url).password)
    seen: list[list[str]] = []

    def look() -> bool:
        programs = (one.info for one in psutil.process_iter(["name", "cmdline"]) if one.info["name"] in NEEDS)
        seen.extend(one["cmdline"] for one in programs if str(tmp_path) in str(one["cmdline"]))
        return running.poll() is not None

    fill(world)
    argv = [sys.executable, "-m", "app.cli", "backup", str(tmp_path / "a.dump")]
    with world.uow.begin() as tx:  # pg_dump waits for it
        tx.run(text("LOCK TABLE job_events IN ACCESS EXCLUSIVE MODE"))
        running = subprocess.Popen(argv, cwd=ROOT, env=nodes.environment(SECRET_KEY=KEY), stdout=subprocess.DEVNULL)
        wait_for(lambda: look() or seen, "a program to be seen")
    wait_for(look, "the backup to end")
    assert seen
    assert password not in str(seen)


def test_an_older_dump_is_migrated(nodes: Nodes, databases: Databases, target: str, tmp_path: Path) -> None:
    from tests.contract.migrating import migrated_to

    with databases.new() as older:
        engine = create_engine(older, poolclass=pool.NullPool)
        migrated_to(engine, "0055")
        done(nodes, "backup", str(tmp_path / "old.dump"), url=older)
    assert f"schema at {head_revision()}" in done(nodes, "restore", str(tmp_path / "old.dump"), url=target)
    made = create_engine(target, poolclass=pool.NullPool)
    assert migrate(made) == head_revision()


@pytest.mark.parametrize(
    ("name", "server", "words"), [("pg_dump", 99, "only pg_dump"), ("pg_nothing", 15, "no pg_nothing")]
)
def test_a_program_that_is_missing_or_too_old_is_named_with_where_to_get_it(name: str, server: int, words: str) -> None:
    with pytest.raises(Problem) as caught:
        postgres_programs.choose(name, server=server)
    assert words in caught.value.detail
    assert f"postgresql-client-{server}" in caught.value.detail
    assert "fairlane[embedded]" in caught.value.detail


def test_the_program_of_the_servers_version_is_taken_and_an_older_one_never() -> None:
    majors = [program.major for program in embedded.clients("pg_dump")]
    chosen = postgres_programs.choose("pg_dump", server=min(majors))
    assert any(program.path == chosen and program.major == min(majors) for program in embedded.clients("pg_dump"))
    newest = postgres_programs.choose("pg_restore", server=15, written_by=max(majors))
    assert any(program.path == newest and program.major == max(majors) for program in embedded.clients("pg_restore"))


def test_an_address_is_taken_apart() -> None:
    found: Any = postgres_programs.address(
        "postgresql+psycopg2://ann:p%40ss%20word@/shop?host=a:1&host=b:2&target_session_attrs=read-write"
    )
    assert "p@ss" not in found.dsn
    assert found.environment["PGPASSWORD"] == "p@ss word"
    assert "host=a,b" in found.dsn
    assert "port=1,2" in found.dsn
    assert "PGPASSWORD" not in postgres_programs.address("postgresql://ann@a/shop").environment
    assert os.environ.get("PGPASSWORD") is None
