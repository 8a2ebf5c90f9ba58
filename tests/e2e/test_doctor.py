"""`fairlane doctor` beside real servers: a healthy service has no fault, and those of its surroundings are found (docs/adr/0083)."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from durable_harness.pgbouncer import PROGRAM, PgBouncer
from durable_harness.postgres import PostgresServer
from durable_harness.standby import PRIMARY, Standby, query
from durable_harness.waiting import wait_for
from sqlalchemy.engine import make_url

from app.domain.plans import Tier
from app.migrate import migrate
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, publishing
from tests.e2e.conftest import System
from tests.e2e.webs import Web
from tests.nodes import ROOT, Nodes

Doctored = dict[str, dict[str, Any]]
WAL = "SELECT pg_logical_emit_message(false, 'doctor', repeat('x', 1000000)) FROM generate_series(1, 80)"


pytestmark = pytest.mark.proof


def doctor(nodes: Nodes, *arguments: str, **env: str) -> Doctored:
    """What the command says, by check."""
    argv = [sys.executable, "-m", "app.cli", "doctor", "--json", *arguments]
    done = subprocess.run(argv, cwd=ROOT, env=nodes.environment(**env), capture_output=True, text=True)
    assert done.stdout, done.stderr
    found = {one["name"]: one for one in json.loads(done.stdout)}
    assert done.returncode == int(any(one["status"] == "found" for one in found.values()))
    return found


def faults(found: Doctored) -> dict[str, Any]:
    return {name: one for name, one in found.items() if one["status"] != "ok"}


@pytest.mark.proof
def test_a_healthy_service_with_traffic_has_no_fault(system: System, tmp_path: Path) -> None:
    nodes = system.nodes
    nodes.worker("analysis_priority", "analysis_default", processes=2)
    nodes.worker("analysis_scheduled", "maintenance", "specview_priority", "specview_default", "specview_scheduled")
    nodes.beat()
    Web(nodes, tmp_path, "").ask("/readyz")
    users = [system.user(Tier.FREE), system.user(Tier.PRO)]
    jobs = [
        system.submit(user, f"shop{n % 5}", {f"test_{n}.py": f"def test_{n}(): pass\n"})
        for n in range(8)
        for user in users
    ]
    looks = 0
    while looks < 3 or any(system.job(job_id)["status"] != "completed" for job_id in jobs):
        assert faults(doctor(nodes)) == {}
        looks += 1
        assert looks < 100
    programs = "SELECT program FROM host_clocks WHERE settings IS NOT NULL ORDER BY 1"
    assert [row["program"] for row in system.world.rows(programs)] == ["fairlane web", "fairlane worker"]


@pytest.mark.proof
def test_a_host_with_another_secret_is_named_and_forgotten_when_it_has_the_same(system: System, tmp_path: Path) -> None:
    Web(system.nodes, tmp_path, "", SECRET_KEY="the secret of the web").ask("/readyz")
    system.nodes.worker(SECRET_KEY="the secret of a worker")
    wait_for(
        lambda: system.world.value("SELECT count(*) FROM host_clocks WHERE settings IS NOT NULL") == 2, "both to write"
    )
    rows = doctor(system.nodes)["different settings"]["rows"]
    assert [row["setting"] for row in rows] == ["SECRET_KEY"] * 2
    system.world.rows(
        "UPDATE host_clocks SET measured_at = now() - interval '1 hour' WHERE program = 'fairlane worker' RETURNING host"
    )
    assert doctor(system.nodes)["different settings"]["status"] == "ok"


@pytest.mark.proof
def test_what_a_killed_worker_held_is_taken_back_where_no_other_node_lives(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    worker = system.stalling_worker()
    system.wait(job_id, "running")
    assert faults(doctor(system.nodes)) == {}
    worker.container.kill()
    wait_for(lambda: doctor(system.nodes)["dead nodes"]["status"] == "found", "its session to end")
    [row] = doctor(system.nodes)["dead nodes"]["rows"]
    assert (row["node"].rpartition(":")[2], row["leased"]) == (str(worker.container.pid), 1)
    wait_for(
        lambda: doctor(system.nodes, "--fix")["dead nodes"]["status"] != "found", "the server to be up for long enough"
    )
    assert system.job(job_id)["status"] == "queued"
    system.nodes.worker()
    assert system.wait(job_id, "completed", "failed")["attempt"] == 2


@pytest.mark.skipif(
    PROGRAM is None, reason="needs pgbouncer: apt-get install pgbouncer (the service itself may stay off)"
)
def test_a_pooler_that_nodes_would_not_hear_through_is_found(nodes: Nodes, database_url: str) -> None:
    url = make_url(database_url)
    login = (str(url.username), str(url.password))
    bouncer = PgBouncer(int(url.port or 0), size=4, login=login, ignores="options", database=str(url.database))
    bouncer.start()
    try:
        through = bouncer.url(str(url.database))
        alone = doctor(nodes, DATABASE_URL=through)["nodes do not listen"]
        assert (alone["status"], "DATABASE_DIRECT_URL" in alone["by_hand"]) == ("found", True)
        direct = url.set(drivername="postgresql").render_as_string(hide_password=False)
        assert faults(doctor(nodes, DATABASE_URL=through, DATABASE_DIRECT_URL=direct)) == {}
        nowhere = url.set(drivername="postgresql", port=1).render_as_string(hide_password=False)
        [row] = doctor(nodes, DATABASE_URL=through, DATABASE_DIRECT_URL=nowhere)["nodes do not listen"]["rows"]
        assert "onnection refused" in row["why"]
        assert login[1] not in row["why"]
    finally:
        bouncer.remove()


@pytest.fixture
def primary() -> Iterator[PostgresServer]:
    server = PostgresServer(**PRIMARY)
    server.start()
    yield server
    server.remove()


@pytest.fixture
def standby(primary: PostgresServer) -> Iterator[Standby]:
    made = Standby(primary, "second")
    made.follow()
    yield made
    made.remove()


def sql(server: PostgresServer, statement: str) -> Any:
    [[value]] = query(server, statement)
    return value


def world_of(server: PostgresServer) -> World:
    return World(
        UnitOfWork(make_engine(server.url().replace("postgresql:", "postgresql+psycopg2:"), pool_size=2), publishing())
    )


@pytest.mark.proof
def test_a_standby_that_is_behind_and_what_its_promotion_lost(
    primary: PostgresServer, standby: Standby, tmp_path: Path
) -> None:
    nodes, world = Nodes(primary.url(), tmp_path), world_of(primary)
    migrate(world.uow.engine)
    wait_for(lambda: lag(nodes)["status"] == "ok", "the standby to have everything")
    sql(standby, "SELECT pg_wal_replay_pause()")
    query(primary, WAL)
    [row] = lag(nodes)["rows"]
    assert (row["how"], row["bytes_not_replayed"] > 64_000_000) == ("connected", True)
    sql(standby, "SELECT pg_wal_replay_resume()")
    wait_for(lambda: lag(nodes)["status"] == "ok", "the standby to have everything")

    kept = world.submit(world.user())
    wait_for(
        lambda: sql(standby, f"SELECT count(*) FROM job_events WHERE job_id = '{kept}'") == 1, "the job to be there"
    )
    standby.stop()
    lost = world.submit(world.user())
    query(primary, WAL)
    [row] = lag(nodes)["rows"]
    assert (row["standby"], row["how"].split(",")[0]) == ("second", "not connected")
    world.uow.engine.dispose()
    primary.stop("immediate")
    standby.start()
    standby.promote()
    log = f"202 {kept}\n202 {lost}\n"
    argv = [sys.executable, "-m", "app.cli", "doctor", "--json", "--ids", "-"]
    env = nodes.environment(DATABASE_URL=standby.url())
    done = subprocess.run(argv, cwd=ROOT, env=env, input=log, capture_output=True, text=True)
    assert (done.returncode, json.loads(done.stdout)) == (1, {"looked_up": 2, "jobs": [str(lost)], "messages": []})


def lag(nodes: Nodes) -> dict[str, Any]:
    return doctor(nodes)["replication lag"]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[PostgresServer, Callable[[], Path]]]:
    """A server on a disk of 400 MB, and what fills that."""
    disk = Path(tempfile.mkdtemp(prefix="fairlane-disk-"))  # unlike tmp_path of root, any user may enter it
    disk.chmod(0o755)
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=400m,mode=0755", "tmpfs", str(disk)], capture_output=True
    )
    if mounted.returncode:
        pytest.skip("may not mount a small disk: run as root of the machine (a full disk is also tried by hand)")
    monkeypatch.setattr(tempfile, "tempdir", str(disk))
    # a vacuum of the catalogue drops a file that each new session reads, and which a full disk does not let it write
    server = PostgresServer(autovacuum="off")
    server.start()

    def fill() -> Path:
        filler = disk / "filler"
        subprocess.run(["dd", "if=/dev/zero", f"of={filler}", "bs=4096"], capture_output=True)  # ends when it is full
        assert os.statvfs(disk).f_bavail == 0
        return filler

    yield server, fill
    server.remove()
    subprocess.run(["umount", "-l", str(disk)], check=True)
    disk.rmdir()


@pytest.mark.proof
def test_a_full_disk_is_named_and_everything_else_is_still_looked_at(
    small: tuple[PostgresServer, Callable[[], Path]], tmp_path: Path
) -> None:
    server, fill = small
    nodes, world = Nodes(server.url(), tmp_path), world_of(server)
    migrate(world.uow.engine)
    assert faults(doctor(nodes)) == {}
    filler = fill()
    found = faults(doctor(nodes, "--fix"))
    assert list(found) == ["disk"]
    [row] = found["disk"]["rows"]
    assert "53100" in row["writes"]
    filler.unlink()
    assert faults(doctor(nodes)) == {}
    world.uow.engine.dispose()
