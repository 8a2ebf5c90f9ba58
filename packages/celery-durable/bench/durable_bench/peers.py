"""The venv of the peers: made once, kept in the user's cache, made anew when peers.txt changes."""

import hashlib
import os
import shutil
import subprocess
import sys
import sysconfig
from pathlib import Path

PINS = Path(__file__).with_name("peers.txt")
#: Of the repository: every system runs with the same Celery.
CONSTRAINTS = Path(__file__).parents[4] / "constraints.txt"
#: The one line of Oban that only Python 3.12 can read: a name for a type, which nothing evaluates.
OBAN_ALIAS = ("type Result[T] = Cancel | Snooze | Record | T | None", "Result = list  # see durable_bench/peers.py")


class PeersUnavailable(Exception):  # noqa: N818  reported, and the run goes on without them
    """The venv cannot be made; says why."""


def default_folder() -> Path:
    """In the user's cache."""
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "fairlane-bench" / "peers"


def python(folder: Path) -> Path:
    """Make the venv where it is missing or old, and name its interpreter.  Raises: PeersUnavailable."""
    stamp = folder / "made-of"
    wanted = hashlib.sha256(PINS.read_bytes() + CONSTRAINTS.read_bytes()).hexdigest()
    program = folder / "bin" / "python"
    if stamp.is_file() and stamp.read_text() == wanted and program.exists():
        return program
    if folder.exists() and not (folder / "pyvenv.cfg").is_file() and any(folder.iterdir()):
        raise PeersUnavailable(f"{folder} is a folder of something else: choose another with --peers-venv")
    print("installing the peers, once", flush=True)
    shutil.rmtree(folder, ignore_errors=True)
    try:
        _make(folder, program)
    except subprocess.CalledProcessError as error:
        raise PeersUnavailable(f"pip could not install peers.txt: {_last_line(error)}") from error
    stamp.write_text(wanted)
    return program


def _make(folder: Path, program: Path) -> None:
    subprocess.run([sys.executable, "-m", "venv", folder], check=True, capture_output=True, text=True)
    pip: list[str | Path] = [program, "-m", "pip", "install", "-q", "--disable-pip-version-check", "-c", CONSTRAINTS]
    old = sys.version_info < (3, 12)
    if old:
        pip.append("--ignore-requires-python")
    subprocess.run([*pip, "-r", PINS], check=True, capture_output=True, text=True)
    packages = next(folder.glob("lib/python*/site-packages"))
    if old:
        _translate(packages / "oban" / "job.py")
    # Celery with Redis runs here too, with the very Celery of the project.
    (packages / "project.pth").write_text(f"{sysconfig.get_path('purelib')}\n")


def _translate(module: Path) -> None:
    text = module.read_text()
    if OBAN_ALIAS[0] not in text:
        raise PeersUnavailable("oban is another version than the one whose one 3.12 line is known")
    module.write_text(text.replace(*OBAN_ALIAS))


def _last_line(error: subprocess.CalledProcessError) -> str:
    return next((line for line in reversed(str(error.stderr).splitlines()) if line.strip()), str(error))
