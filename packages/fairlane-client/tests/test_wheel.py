"""The built wheel in an empty environment, beside its dependencies and nothing else: every name can be imported."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1]
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
#: pip's words for an index that cannot be reached; one that lacks a version is a failure
UNREACHED = re.compile(r"NewConnectionError|ConnectTimeout|name resolution|Connection refused|Network is unreachable")
ASKED = """
import importlib.util
from importlib.resources import files
from fairlane_client import *
found = [name for name in ("app", "tasks", "flask", "celery", "sqlalchemy", "pydantic") if importlib.util.find_spec(name)]
print(found, (files("fairlane_client") / "py.typed").is_file(), Client("http://127.0.0.1").url)
"""


def run(*argv: str | Path) -> subprocess.CompletedProcess[str]:
    """In the environment of a shell that knows nothing of ours."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}
    return subprocess.run(argv, capture_output=True, text=True, env=clean)


@pytest.mark.release
def test_the_wheel_works_where_nothing_else_is_installed(tmp_path: Path) -> None:
    python = tmp_path / "venv" / "bin" / "python"
    made = run(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", tmp_path / "dist", PACKAGE)
    assert made.returncode == 0, made.stderr
    [wheel] = (tmp_path / "dist").glob("fairlane_client-*.whl")
    run(sys.executable, "-m", "venv", tmp_path / "venv").check_returncode()
    done = run(python, *PIP, "install", wheel)
    if done.returncode and (found := UNREACHED.search(done.stderr)):
        pytest.skip(f"pip reaches no index ({found[0]})")
    assert done.returncode == 0, done.stderr
    asked = run(python, "-I", "-c", ASKED)
    assert asked.stdout == "[] True http://127.0.0.1\n", asked.stderr
