"""Out of the sandbox of a parser or a git there is no way, and none of them is started without one."""

import json
import os
import re
import struct
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from testlist import Source, fetched, inventory, resolve
from testlist.sandbox import account, guard, seccomp
from testlist.sandbox.guard import end, guarded, places
from testlist.sandbox.kernel import audit, numbers
from testlist.sandbox.parsers import Job, Parsers
from testlist.sandbox.process import Order
from testlist_harness import ways
from testlist_harness.githost import serving
from testlist_harness.processes import below
from testlist_harness.repositories import MakeRepository, git

TESTS = Path(__file__).parents[1]
FEWEST = 60
#: what there is of attempts as a user with few rights: the others fail for everybody but root
AS_A_USER = 40
DENIED = {"EPERM", "EACCES", "ENOSYS"}


def tried(place: str) -> dict[str, str]:
    argv = [sys.executable, "-m", "testlist_harness.escapes", place]
    found: dict[str, str] = json.loads(subprocess.run(argv, cwd=TESTS, stdout=subprocess.PIPE, check=True).stdout)
    return found


@pytest.fixture(scope="module")
def outside() -> set[str]:
    """Attempts that succeed without a sandbox on this machine."""
    return {name for name, outcome in tried("none").items() if outcome == "out"}


def test_nothing_gets_out_of_a_parser(outside: set[str]) -> None:
    inside = tried("parser")
    assert len(outside) >= (FEWEST if account.is_root() else AS_A_USER)
    assert {name: inside[name] for name in inside if inside[name] == "out" or "broken" in inside[name]} == {}
    assert {name for name in outside if inside[name] not in DENIED} <= {"a thread"}  # told by Python in its own words


def whole(stream: IO[bytes]) -> bytes:
    found = b""
    while part := stream.read(1 << 16):
        found += part
    return found


def test_nothing_gets_out_of_a_git(outside: set[str], tmp_path: Path) -> None:
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    guard.hand_over(scratch)
    victim = ways.Victim(tmp_path)
    order = Order(
        # in place of git: what else git could be made to run
        argv=[os.path.realpath(sys.executable), "-m", "testlist_harness.escapes", "git"],
        env={"PYTHONPATH": os.pathsep.join([*places(), str(TESTS)]), "VICTIM": victim.told(), "PATH": os.defpath},
        folder=str(scratch.resolve()),
        writes=True,
        reads=[str(TESTS), *places()],  # this test's own modules
        ports=[443],
    )
    process = guarded(order, ["git"], errors=True)
    process.stdin.close()
    said, complaints = whole(process.stdout), whole(process.errors)
    code = end(process, grace=9)
    victim.close()
    assert code == 0, complaints
    inside = json.loads(said)
    got_out = {name for name, outcome in inside.items() if outcome == "out"} - ways.OF_GIT
    assert got_out == set()
    assert len(outside - ways.OF_GIT) >= (FEWEST if account.is_root() else AS_A_USER)


def rights(pid: int) -> dict[str, str]:
    """What the kernel says a process has."""
    lines = (line.split(":", 1) for line in Path(f"/proc/{pid}/status").read_text().splitlines())
    return {name: value.strip() for name, value in lines}


def test_a_parser_has_no_user_no_rights_and_no_files_of_ours() -> None:
    with Parsers() as parsers:
        parsers.warm(["python"])
        pid = parsers.idle[0].process.pid
        parsers.idle[0].process.stdin.write(b"python 1\nx")  # answered when all is in force
        assert os.read(parsers.idle[0].process.stdout.fileno(), 99)
        found = rights(pid)
        assert (found["Seccomp"], found["NoNewPrivs"], int(found["CapEff"], 16)) == ("2", "1", 0)
        if account.is_root():
            assert set(found["Uid"].split()) == {str(account.NUMBER)}
            assert found["Groups"] == ""
            assert {one.name for one in Path(f"/proc/{pid}/fd").iterdir()} == {"0", "1", "2"}


def test_a_launcher_has_nothing_of_its_makers_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    guard.close()
    monkeypatch.setenv("DATABASE_URL", "postgresql://canary")
    guard.ready()
    launchers = [pid for pid, words in below(os.getpid()) if guard.BEGIN in words]
    names = {name.partition("=")[0] for name in Path(f"/proc/{launchers[0]}/environ").read_text().split("\0")}
    assert names - {""} == {"PATH", "LC_ALL", "PYTHONPATH", "PYTHONHASHSEED"}


def test_a_killed_launcher_takes_its_children_along_and_the_next_run_has_a_new_one() -> None:
    with Parsers() as parsers:
        parsers.warm(["python"])
        child = parsers.idle[0].process
        launchers = [pid for pid, words in below(os.getpid()) if guard.BEGIN in words]
        assert child.pid
        os.kill(launchers[-1], 9)
        assert child.ended(60) is False  # nobody is left to tell
        assert end(child) == -9
        parsers.idle.clear()
        found = dict(parsers.parse(iter([Job("a", "python", b"def test_a(): pass")])))
    assert found["a"]["body"]


def test_repositories_one_after_the_other_cost_one_interpreter(make_repository: MakeRepository, tmp_path: Path) -> None:
    launchers = set()
    for number in range(4):
        source = Source.local(make_repository({"test_a.py": f"def test_{number}(): pass\n"}, f"repo{number}"))
        commit, _ = resolve(source, None)
        with fetched(source, commit, workdir=tmp_path / "work") as repository:
            assert [test.name for test in inventory(repository).tests] == [f"test_{number}"]
        launchers |= {pid for pid, words in below(os.getpid()) if guard.BEGIN in words}
    assert len(launchers) == 1


@pytest.mark.parametrize("works", ["apart", "linked", "borrowing"])
def test_parts_of_a_local_repository_may_lie_elsewhere(
    works: str, make_repository: MakeRepository, tmp_path: Path
) -> None:
    first, second = make_repository({"test_a.py": "def test_a(): pass\n"}), tmp_path / "second"
    if works == "linked":
        git(first, "worktree", "add", "--quiet", str(second))
    elif works == "apart":
        git(tmp_path, "clone", "--quiet", "--separate-git-dir", str(tmp_path / "store"), str(first), str(second))
    else:
        git(tmp_path, "clone", "--quiet", "--shared", str(first), str(second))
    source = Source.local(second)
    commit, _ = resolve(source, None)
    with fetched(source, commit, workdir=tmp_path / "work") as repository:
        assert [test.name for test in inventory(repository).tests] == ["test_a"]


def test_a_remote_repository_is_fetched_below_folders_that_only_their_owner_enters(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    commit = git(make_repository({"test_a.py": "def test_a(): pass\n"}), "rev-parse", "HEAD")
    work = tmp_path / "home" / "work"
    work.mkdir(parents=True)
    work.parent.chmod(0o700)
    with serving(tmp_path) as host:
        source = Source.remote(f"{host}/repo/.git", plain_http=True)
        with fetched(source, commit, workdir=work) as repository:
            assert [test.name for test in inventory(repository).tests] == ["test_a"]
            if account.is_root():
                packs = list((repository.directory / "objects" / "pack").glob("*.pack"))
                assert {pack.stat().st_uid for pack in packs} == {account.NUMBER}
    assert list(work.iterdir()) == []


def judged(program: bytes, number: int, arguments: tuple[int, ...] = (), architecture: int | None = None) -> int:
    """What a filter answers, by the rules of the kernel's machine."""
    words = [number, architecture or audit(), 0, 0, *(half for one in (*arguments, *[0] * 6)[:6] for half in (one, 0))]
    codes = list(struct.iter_unpack("=HBBI", program))
    value, place = 0, 0
    while True:
        code, true, false, operand = codes[place]
        place += 1
        if code == 0x20:
            value = words[operand // 4]
        elif code == 0x54:
            value &= operand
        elif code == 0x06:
            return int(operand)
        else:
            met = {0x15: value == operand, 0x35: value >= operand, 0x45: bool(value & operand)}[code]
            place += true if met else false


ALLOW, KILL = 0x7FFF_0000, 0x8000_0000


@pytest.mark.parametrize("program", [seccomp.parser(), seccomp.git(network=True), seccomp.git(network=False)])
def test_calls_of_another_kind_or_a_later_kernel_are_not_let_through(program: bytes) -> None:
    assert judged(program, numbers()["read"]) == ALLOW
    assert judged(program, numbers()["read"], architecture=0x4000_0003) == KILL  # 32 bits
    for number in (*range(seccomp.BEYOND, 1_024), *(name | 0x4000_0000 for name in range(1_024))):  # later ones; x32
        assert judged(program, number) & 0xFFFF_0000 == 0x0005_0000


def test_no_git_types_into_a_terminal_and_only_one_with_a_host_has_sockets() -> None:
    offline, online, six = (seccomp.git(network=net, datagrams=udp) for net, udp in ((0, 0), (1, 0), (1, 1)))
    for request in seccomp.TERMINAL:
        assert judged(online, numbers()["ioctl"], (1, request)) != ALLOW
    tcp, tcp6, udp, udp6 = (2, 1, 0), (10, 0x80801, 6), (2, 2, 0), (10, 2, 0)
    calls = [
        [judged(one, numbers()["socket"], kind) == ALLOW for kind in (tcp, tcp6, udp, udp6)]
        for one in (offline, online, six)
    ]
    assert calls == [[False] * 4, [True, True, False, False], [True, True, False, True]]


def test_the_numbers_of_calls_are_those_of_the_kernels_headers() -> None:
    header = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")
    if os.uname().machine != "x86_64" or not header.exists():
        pytest.skip("the kernel's headers are not installed")
    theirs = {name: int(number) for name, number in re.findall(r"#define __NR_(\w+) (\d+)", header.read_text())}
    ours = numbers()
    assert {name: ours[name] for name in ours.keys() & theirs.keys()} == {
        name: theirs[name] for name in ours.keys() & theirs.keys()
    }
