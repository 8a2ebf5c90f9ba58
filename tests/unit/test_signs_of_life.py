"""Signs of life: of whom there is one, how old it is, and what is none."""

import os
import re
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from app import signs_of_life


def test_the_age_of_a_sign_is_counted_from_when_it_was_given(tmp_path: Path) -> None:
    before = time.monotonic()
    signs_of_life.give(tmp_path, "analysis_default@here")
    age = signs_of_life.age(tmp_path, "analysis_default@here")
    assert age is not None
    assert 0 <= age <= time.monotonic() - before + 0.02  # in hundredths


def test_the_sign_of_a_process_that_has_ended_is_none(tmp_path: Path) -> None:
    code = "import sys; from pathlib import Path; from app import signs_of_life; signs_of_life.give(Path(sys.argv[1]), 'beat@here')"
    subprocess.run([sys.executable, "-c", code, str(tmp_path)], check=True)
    assert (tmp_path / "alive" / "beat@here").exists()
    assert signs_of_life.age(tmp_path, "beat@here") is None


@pytest.mark.parametrize("content", ["", "1", "one two", "PID 1e300", "\xff"])
def test_what_is_no_sign_or_from_before_the_machine_started_counts_for_nothing(tmp_path: Path, content: str) -> None:
    (tmp_path / "alive").mkdir()
    (tmp_path / "alive" / "beat@here").write_text(content.replace("PID", str(os.getpid())), encoding="latin-1")
    assert signs_of_life.age(tmp_path, "beat@here") is None


def test_a_name_leads_nowhere_else(tmp_path: Path) -> None:
    signs_of_life.give(tmp_path, "../../beat@here")
    assert [path.name for path in (tmp_path / "alive").iterdir()] == [".._.._beat@here"]


ASK = Path(signs_of_life.__file__).parent / "cli" / "fairlane-alive"


def asked(home: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """What the health checks call."""
    return subprocess.run([ASK, *arguments], env={"FAIRLANE_HOME": str(home)}, capture_output=True, text=True)


def test_the_command_of_health_checks_finds_the_sign_of_this_hosts_node(tmp_path: Path) -> None:
    signs_of_life.give(tmp_path, f"beat@{socket.gethostname()}")
    signs_of_life.give(tmp_path, "beat@elsewhere")
    for name in ("beat", f"beat@{socket.gethostname()}", "beat@elsewhere"):
        done = asked(tmp_path, name)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", ""), name


def test_the_command_of_health_checks_says_what_is_missing(tmp_path: Path) -> None:
    sign = tmp_path / "alive" / "beat@here"
    assert asked(tmp_path, "beat@here").stderr == f"fairlane-alive: beat@here gave no sign below {sign}\n"
    assert asked(tmp_path).returncode == 2
    signs_of_life.give(tmp_path, "beat@here")
    pid, at = sign.read_text(encoding="ascii").split()
    for said, expected in {
        f"{pid} {float(at) - 6000}": r"gave its last sign (5999|6\d\d\d) s ago",
        f"{pid} {float(at) + 6000}": r"gave its last sign -[56]\d\d\d s ago",  # from before the machine's start
        f"{2**22 + 1} {at}": "has ended",  # above the largest number of a process
        pid: "gave a sign that cannot be read",
        "": "gave a sign that cannot be read",
    }.items():
        sign.write_text(said + "\n", encoding="ascii")
        done = asked(tmp_path, "beat@here")
        assert done.returncode == 1
        assert re.search(expected, done.stderr), done.stderr
    sign.write_text(f"{pid} {float(at) - 60}\n", encoding="ascii")
    assert asked(tmp_path, "beat@here", "3600").returncode == 0


@pytest.mark.parametrize("seconds", ["30s", "1.5", "-1", "abc"])
def test_the_command_of_health_checks_refuses_what_is_no_number(tmp_path: Path, seconds: str) -> None:
    """Or a supervisor starts a node that lives again and again."""
    signs_of_life.give(tmp_path, "beat@here")
    done = asked(tmp_path, "beat@here", seconds)
    assert (done.returncode, done.stderr.split(",")[0]) == (2, "usage: fairlane-alive NAME [SECONDS]")


def test_systemd_is_told_if_it_watches_this_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as systemd:
        systemd.bind(str(tmp_path / "notify"))
        systemd.setblocking(False)
        monkeypatch.setenv("NOTIFY_SOCKET", str(tmp_path / "notify"))
        for watched in (str(os.getppid()), str(os.getpid())):  # a child has its parent's variables
            monkeypatch.setenv("WATCHDOG_PID", watched)
            signs_of_life.give(tmp_path, "beat@here")
        assert systemd.recv(100) == b"WATCHDOG=1"
        with pytest.raises(BlockingIOError):
            systemd.recv(100)
    signs_of_life.give(tmp_path, "beat@here")  # the socket is nobody's any more
