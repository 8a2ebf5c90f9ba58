"""The secret that is made once, by whichever process comes first."""

import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from app.errors import BadSetting
from app.home import folder, secret_key
from app.settings import Settings, load

PROCESSES = 4
ASK = """
import sys
from pathlib import Path
from app.home import secret_key
from app.settings import Settings
settings = Settings(fairlane_home=Path(sys.argv[1]))
print("ready", flush=True)
sys.stdin.readline()
print(secret_key(settings), end="")
"""


@pytest.mark.proof
def test_processes_that_start_at_once_all_get_the_same_key(tmp_path: Path) -> None:
    argv = [sys.executable, "-c", ASK, str(tmp_path / "home")]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    started = [subprocess.Popen(argv, **pipes) for _ in range(PROCESSES)]  # type: ignore[call-overload]
    for process in started:
        assert process.stdout.readline() == "ready\n"
    for process in started:
        process.stdin.write("go\n")
        process.stdin.flush()
    keys = {process.communicate(timeout=240)[0] for process in started}
    assert [process.returncode for process in started] == [0] * PROCESSES
    assert len(keys) == 1
    assert len(keys.pop()) >= 43  # 256 random bits
    assert [path.name for path in (tmp_path / "home").iterdir()] == ["secret_key"]


def test_the_key_is_readable_by_its_owner_only_whatever_the_umask(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        secret_key(Settings(fairlane_home=tmp_path / "home"))
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "home" / "secret_key").stat().st_mode) == 0o600


def test_the_key_stays_the_same_from_start_to_start(tmp_path: Path) -> None:
    settings = Settings(fairlane_home=tmp_path)
    assert secret_key(settings) == secret_key(settings)
    assert secret_key(settings) != secret_key(Settings(fairlane_home=tmp_path / "other"))


def test_a_given_key_is_used_and_nothing_is_kept(tmp_path: Path) -> None:
    settings = load({"FAIRLANE_HOME": str(tmp_path / "home"), "SECRET_KEY": "given-by-its-owner"})
    assert secret_key(settings) == "given-by-its-owner"
    assert not (tmp_path / "home").exists()


def test_a_home_that_cannot_be_made_is_named(tmp_path: Path) -> None:
    file = tmp_path / "file"
    file.write_text("", encoding="utf-8")
    with pytest.raises(BadSetting, match=r"FAIRLANE_HOME=.*/file/home.*Not a directory"):
        folder(Settings(fairlane_home=file / "home"))


def test_others_may_not_look_into_the_home(tmp_path: Path) -> None:
    mode = stat.S_IMODE(folder(Settings(fairlane_home=tmp_path / "home")).stat().st_mode)
    assert mode & 0o066 == 0
