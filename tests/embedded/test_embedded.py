from __future__ import annotations

import os
import re
import shutil
import signal
import socket
import stat
import subprocess
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psycopg2
import pytest

from app import embedded, processes, supervisor
from app.embedded import binaries as programs_of
from app.embedded import postmaster
from tests.embedded.conftest import Ask, copy, pid_of

Helper = Callable[..., subprocess.Popen[str]]
Until = Callable[[Callable[[], object]], None]

HALF_MADE = "pg*.new-*/pg*/base"
START = """
import sys
from pathlib import Path
from app import embedded, supervisor
server = embedded.ensure(Path(sys.argv[1]), durable=False)
print(server.url, server.started)
"""
HOLD = """
import sys
from pathlib import Path
from app import embedded
with embedded.hold(Path(sys.argv[1]), durable=False) as server:
    print(server.url)
    sys.stdin.read()
"""


def test_the_first_call_makes_the_server_and_the_second_finds_it(home: Path, ask: Ask) -> None:
    first = embedded.ensure(home)
    second = embedded.ensure(home)
    assert (first.started, second.started) == (True, False)
    assert first.url == second.url
    assert re.fullmatch(r"postgresql\+psycopg2://app:[\w-]{32}@127\.0\.0\.1:\d+/fairlane", first.url)
    assert first.url not in repr(first)
    assert ask(first.url, "SHOW fsync") == [("on",)]
    assert ask(first.url, "SHOW synchronous_commit") == [("on",)]
    assert ask(first.url, "SHOW max_connections") == [("200",)]
    assert ask(first.admin_url, "SHOW unix_socket_directories") == [("",)]
    assert ask(first.url, "SHOW listen_addresses") == [("127.0.0.1",)]
    assert ask(first.url, "SHOW idle_in_transaction_session_timeout") == [("1min",)]
    assert (embedded.stop(home), embedded.stop(home)) == (True, False)


def test_the_service_works_with_rows_and_another_role_owns_them_and_neither_is_superuser(
    filled: Path, ask: Ask
) -> None:
    server = embedded.ensure(filled, durable=False)
    rights = "SELECT rolsuper, rolcreaterole, rolcreatedb, rolbypassrls FROM pg_roles WHERE rolname = current_user"
    assert ask(server.url, rights) == [(False, False, False, False)]
    assert ask(server.owner_url, rights) == [(False, False, True, False)]
    owner = "SELECT datdba::regrole::text FROM pg_database WHERE datname = 'fairlane'"
    assert ask(server.url, owner) == [("fairlane_owner",)]
    assert ask(server.url, "UPDATE kept SET answer = 43 RETURNING answer") == [(43,)]
    for act in ("DROP TABLE kept", "TRUNCATE kept", "ALTER TABLE kept ADD b int", "CREATE TABLE mine ()"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            ask(server.url, act)
    for act in ("CREATE TEMP TABLE mine ()", "CREATE SCHEMA mine", "CREATE DATABASE mine", "SET ROLE fairlane_owner"):
        with pytest.raises(psycopg2.errors.InsufficientPrivilege):
            ask(server.url, act)
    ask(server.owner_url, "CREATE DATABASE cloned TEMPLATE fairlane")
    assert ask(server.owner_url.removesuffix("fairlane") + "cloned", "SELECT answer FROM kept") == [(43,)]
    assert ask(server.admin_url, "SELECT rolsuper FROM pg_roles WHERE rolname = current_user") == [(True,)]


def test_a_home_of_the_release_with_one_role_is_divided_at_its_next_use_and_keeps_its_data(
    filled: Path, ask: Ask
) -> None:
    server = embedded.ensure(filled, durable=False)
    with psycopg2.connect(server.admin_url.replace("+psycopg2", "").replace("/postgres", "/fairlane")) as undo:
        undo.cursor().execute("""
            ALTER DATABASE fairlane OWNER TO app; ALTER TABLE kept OWNER TO app; ALTER ROLE app CREATEDB;
            CREATE TABLE older AS SELECT 1 AS n; ALTER TABLE older OWNER TO app;
            CREATE SEQUENCE numbers; ALTER SEQUENCE numbers OWNER TO app;
            DROP OWNED BY fairlane_owner""")
    undo.close()
    ask(server.admin_url, "DROP ROLE fairlane_owner")
    next(filled.glob("*.owner.url")).unlink()
    assert ask(server.url, "SELECT answer FROM kept") == [(42,)]  # what such a home is
    divided = embedded.ensure(filled, durable=False)
    assert divided.url == server.url  # those who work with it meanwhile go on
    assert ask(divided.url, "SELECT answer, n, nextval('numbers') FROM kept, older") == [(42, 1, 1)]
    owners = "SELECT DISTINCT relowner::regrole::text FROM pg_class WHERE relname IN ('kept', 'older', 'numbers')"
    assert ask(divided.owner_url, owners) == [("fairlane_owner",)]
    with pytest.raises(psycopg2.errors.InsufficientPrivilege):
        ask(divided.url, "DROP TABLE older")
    assert embedded.ensure(filled, durable=False).owner_url == divided.owner_url


@pytest.mark.proof
def test_only_the_owner_reads_the_files_and_all_are_in_the_home(home: Path) -> None:
    server = embedded.ensure(home, durable=False)
    modes = {entry.name: stat.S_IMODE(entry.stat().st_mode) for entry in home.iterdir()}
    name = server.data.name
    urls = {f"{name}.url", f"{name}.owner.url", f"{name}.admin.url"}
    assert set(modes) == {name, *urls, f"{name}.log", "pg.lock"}
    assert {modes[file] for file in [*urls, f"{name}.log"]} == {0o600}
    assert modes[name] == 0o700
    arguments = Path("/proc", str(pid_of(home)), "cmdline").read_bytes().decode()
    assert server.url.split(":")[2].split("@")[0] not in arguments


@pytest.mark.proof
@pytest.mark.parametrize("name", ["pg.lock", "pg.holders", "up.lock"])
def test_only_the_owner_may_hold_a_lock_of_the_home(home: Path, name: str) -> None:
    home.mkdir(exist_ok=True)
    (home / name).touch(mode=0o644)  # as an earlier release made it
    (home / name).chmod(0o644)
    for _ in range(2):
        if name == "up.lock":
            with supervisor.alone(home, "http://127.0.0.1:1"):
                pass
        else:
            with embedded.hold(home, durable=False):
                pass
        assert stat.S_IMODE((home / name).stat().st_mode) == 0o600
        (home / name).unlink()


def test_the_log_holds_neither_statements_nor_values(filled: Path, ask: Ask) -> None:
    server = embedded.ensure(filled, durable=False)
    ask(server.owner_url, "CREATE TABLE once (word text PRIMARY KEY)")
    ask(server.url, "INSERT INTO once VALUES ('hunter2')")
    with pytest.raises(Exception, match="duplicate key"):
        ask(server.url, "INSERT INTO once VALUES ('hunter2')")
    said = postmaster.log_file(server.data).read_text()
    assert "duplicate key" in said
    assert "hunter2" not in said


def test_a_server_without_safety_is_not_taken_for_a_durable_one(filled: Path, ask: Ask) -> None:
    fast = embedded.ensure(filled, durable=False)
    assert ask(fast.url, "SHOW fsync") == [("off",)]
    safe = embedded.ensure(filled)
    assert safe.started
    assert ask(safe.url, "SHOW fsync") == [("on",)]
    assert not embedded.ensure(filled, durable=False).started


@pytest.mark.proof
def test_six_processes_at_once_on_an_empty_home_share_one_server(home: Path, helper: Helper) -> None:
    racers = [helper(START, home) for _ in range(6)]
    lines = [racer.communicate(timeout=240)[0].split() for racer in racers]
    assert len({url for url, _ in lines}) == 1
    assert sorted(started for _, started in lines) == ["False"] * 5 + ["True"]


def test_a_killed_postmaster_comes_back_with_its_data(filled: Path, ask: Ask, helper: Helper, until: Until) -> None:
    holder = helper(HOLD, filled)  # its parent lives on and does not collect it: a zombie, which kill(pid, 0) finds
    url = holder.stdout.readline().strip()
    ask(embedded.ensure(filled, durable=False).owner_url, "CREATE TABLE later AS SELECT 7 AS n")
    killed = pid_of(filled)
    os.kill(killed, signal.SIGKILL)
    until(lambda: not processes.alive(killed))
    os.kill(killed, 0)
    again = embedded.ensure(filled, durable=False)
    assert (again.url, again.started) == (url, True)
    assert ask(again.url, "SELECT n, answer FROM later, kept") == [(7, 42)]


@pytest.mark.proof
def test_a_backend_that_outlives_its_postmaster_is_no_obstacle(
    filled: Path, helper: Helper, until: Until, ask: Ask
) -> None:
    server = embedded.ensure(filled, durable=False)
    busy = "import sys, psycopg2; psycopg2.connect(sys.argv[1]).cursor().execute(sys.argv[2])"
    loop = "DO $$ BEGIN LOOP PERFORM 1; END LOOP; END $$"  # never waits, so it does not see that the postmaster died
    helper(busy, server.url.replace("+psycopg2", ""), loop)
    until(lambda: ask(server.url, "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'"))
    os.kill(pid_of(filled), signal.SIGKILL)
    assert embedded.ensure(filled, durable=False).url == server.url
    assert len(processes.working_in(server.data, program="postgres")) > 1
    until(lambda: not ask(server.url, "SELECT 1 FROM pg_stat_activity WHERE query LIKE 'DO %' AND state = 'active'"))


def test_the_server_survives_the_process_that_started_it_and_the_next_holder_stops_it(
    filled: Path, helper: Helper, ask: Ask
) -> None:
    starter = helper(HOLD, filled)
    url = starter.stdout.readline().strip()
    os.killpg(starter.pid, signal.SIGKILL)
    starter.wait()
    assert ask(url, "SELECT 1") == [(1,)]
    with embedded.hold(filled, durable=False) as server:
        assert (server.url, server.started) == (url, False)
    assert not embedded.stop(filled)


def test_the_last_holder_stops_the_server_and_no_other(filled: Path, helper: Helper, ask: Ask) -> None:
    first = helper(HOLD, filled)
    url = first.stdout.readline().strip()
    with embedded.hold(filled, durable=False):
        first.communicate(timeout=240)
        assert first.returncode == 0
        assert ask(url, "SELECT 1") == [(1,)]
    assert not embedded.stop(filled)


def half_way(home: Path, helper: Helper, until: Until) -> tuple[subprocess.Popen[str], list[int]]:
    """A process that makes the data of a home, and its initdb, which stands still; again where initdb was faster."""
    while True:
        victim, stopped = helper(START, home), list[int]()
        until(lambda victim=victim: list(home.glob(HALF_MADE)) or victim.poll() is not None)
        for folder in home.glob("pg*.new-*"):
            for pid in processes.working_in(folder, program="initdb"):  # and at times one that it has just forked
                with suppress(ProcessLookupError):
                    os.kill(pid, signal.SIGSTOP)
                    stopped.append(pid)
        if list(home.glob(HALF_MADE)) and [pid for pid in stopped if processes.alive(pid)]:
            return victim, stopped
        victim.wait()
        embedded.stop(home)
        shutil.rmtree(home)


@pytest.mark.proof
def test_an_initdb_killed_half_way_is_done_again(home: Path, helper: Helper, until: Until) -> None:
    victim, _ = half_way(home, helper, until)
    os.killpg(victim.pid, signal.SIGKILL)
    victim.wait()
    assert embedded.ensure(home, durable=False).started
    assert not list(home.glob("pg*.new-*"))


@pytest.mark.proof
def test_an_initdb_that_outlives_its_caller_is_ended(home: Path, helper: Helper, until: Until) -> None:
    victim, orphans = half_way(home, helper, until)  # it would end by itself
    (folder,) = home.glob("pg*.new-*")
    victim.kill()
    victim.wait()
    assert [orphan for orphan in orphans if processes.alive(orphan)]
    assert embedded.ensure(home, durable=False).started
    assert not [orphan for orphan in orphans if processes.alive(orphan)]
    assert not folder.exists()


@pytest.mark.proof
def test_somebody_elses_half_made_data_is_moved_aside_and_kept(home: Path) -> None:
    major = programs_of.choose(set()).major
    (home / f"pg{major}" / "base" / "1").mkdir(parents=True)
    (home / f"pg{major}" / "note").write_text("mine")
    assert embedded.ensure(home, durable=False).started
    assert [path.read_text() for path in home.glob("pg*.broken-*/pg*/note")] == ["mine"]


def test_damaged_data_is_refused_and_left_as_it_is(filled: Path) -> None:
    (data,) = (path for path in filled.glob("pg*") if path.is_dir())
    (data / "global" / "pg_control").rename(filled / "pg_control")
    before = sorted(path for path in data.rglob("*"))
    with pytest.raises(embedded.EmbeddedUnavailable, match="is damaged"):
        embedded.ensure(filled, durable=False)
    assert sorted(path for path in data.rglob("*")) == before


@pytest.mark.proof
def test_a_port_that_somebody_took_is_left_to_them(filled: Path, ask: Ask) -> None:
    first = embedded.ensure(filled, durable=False)
    embedded.stop(filled)
    with socket.create_server(("127.0.0.1", int(first.url.rsplit(":", 1)[1].split("/")[0]))):
        second = embedded.ensure(filled, durable=False)
    assert second.url != first.url
    assert ask(second.url, "SELECT answer FROM kept") == [(42,)]
    assert embedded.ensure(filled, durable=False).url == second.url


@pytest.mark.proof
def test_a_stale_pid_file_is_seen_through(filled: Path) -> None:
    (data,) = (path for path in filled.glob("pg*") if path.is_dir())
    for left in (f"{os.getpid()}\n{data}\n0\n1\n", "", "999999999\n", "1\n"):
        (data / "postmaster.pid").write_text(left)
        assert embedded.ensure(filled, durable=False).started
        assert embedded.stop(filled)


@pytest.mark.proof
def test_a_copy_of_a_running_home_gets_a_server_of_its_own(filled: Path, ask: Ask) -> None:
    original = embedded.ensure(filled, durable=False)
    twin = filled.with_name("twin")
    copy(filled, twin)
    try:
        copied = embedded.ensure(twin, durable=False)
        assert copied.started
        assert copied.url != original.url
        ask(copied.owner_url, "DROP TABLE kept")
        assert ask(original.url, "SELECT answer FROM kept") == [(42,)]
    finally:
        embedded.stop(twin)


@pytest.mark.proof
def test_lost_passwords_are_made_anew(filled: Path, ask: Ask) -> None:
    for path in filled.glob("*.url"):
        path.unlink()
    server = embedded.ensure(filled, durable=False)
    assert ask(server.url, "SELECT answer FROM kept") == [(42,)]
    next(filled.glob("*.admin.url")).unlink()  # now while it runs
    again = embedded.ensure(filled, durable=False)
    assert again.url != server.url
    assert ask(again.url, "SELECT answer FROM kept") == [(42,)]


def test_wrong_passwords_are_named_at_once(filled: Path) -> None:
    path = next(filled.glob("*.admin.url"))
    path.write_text(re.sub(r":[\w-]{32}@", ":wrong@", path.read_text()))
    with pytest.raises(embedded.EmbeddedUnavailable, match="delete both to have new passwords made"):
        embedded.ensure(filled, durable=False)


@pytest.mark.proof
def test_a_server_that_cannot_start_says_why(filled: Path) -> None:
    (data,) = (path for path in filled.glob("pg*") if path.is_dir())
    with (data / "postgresql.conf").open("a") as conf:
        conf.write("shared_buffers = nonsense\n")
    with pytest.raises(embedded.EmbeddedUnavailable, match="shared_buffers"):
        embedded.ensure(filled, durable=False)


def test_the_log_is_cut_while_the_server_writes(filled: Path, ask: Ask) -> None:
    server = embedded.ensure(filled, durable=False)
    log = postmaster.log_file(server.data)
    with log.open("a") as grown:
        grown.write("x" * postmaster.LOG_BYTES)
    embedded.ensure(filled, durable=False)
    assert log.stat().st_size == 0
    assert log.with_name(f"{log.name}.1").stat().st_size > postmaster.LOG_BYTES
    with pytest.raises(Exception, match="does not exist"):
        ask(server.url, "SELECT nothing_of_this_name")
    assert 0 < log.stat().st_size < 1000


def test_a_home_that_cannot_be_made_is_named(passable: Path) -> None:
    (passable / "file").touch()
    with pytest.raises(embedded.EmbeddedUnavailable, match="cannot create FAIRLANE_HOME"):
        embedded.ensure(passable / "file" / "home")
