"""The built wheel in an empty environment, beside its dependencies and nothing else: the command lists a repository."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from testlist_harness.repositories import MakeRepository

PACKAGE = Path(__file__).parents[1]
PIP = ("-m", "pip", "--disable-pip-version-check", "--quiet")
#: pip's words for an index that cannot be reached; one that lacks a version is a failure
UNREACHED = re.compile(r"NewConnectionError|ConnectTimeout|name resolution|Connection refused|Network is unreachable")
FILES = {
    "test_cart.py": "def test_adds(): pass\n",
    "cart.test.js": 'const { test } = require("node:test");\ntest("adds", () => { cart.add(1); });\n',
    "pyproject.toml": "[tool.pytest.ini_options]\n",
}
#: asked of the environment: what of ours is there, and where the engine and its launcher's modules come from
ASKED = """
import importlib.util, json, testlist
from testlist.sandbox.guard import places
found = [name for name in ("app", "tasks", "celery_durable", "flask", "celery", "sqlalchemy") if importlib.util.find_spec(name)]
print(json.dumps({"found": found, "engine": testlist.__file__, "places": places()}))
"""


def clean() -> dict[str, str]:
    """What a shell outside of this environment would pass on."""
    return {name: value for name, value in os.environ.items() if not name.startswith("PYTHON")}


def run(*argv: str | Path, **options: object) -> str:
    done = subprocess.run(argv, capture_output=True, text=True, env=clean(), **options)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An environment with the wheel; its dependencies come from pip's cache or index, as anybody's would."""
    folder = tmp_path_factory.mktemp("empty")
    run(sys.executable, *PIP, "wheel", "--no-deps", "--wheel-dir", folder / "dist", PACKAGE)
    [wheel] = (folder / "dist").glob("testlist-*.whl")
    run(sys.executable, "-m", "venv", folder / "venv")
    done = subprocess.run(
        [folder / "venv" / "bin" / "python", *PIP, "install", wheel], capture_output=True, text=True, env=clean()
    )
    if done.returncode and (found := UNREACHED.search(done.stderr)):
        pytest.skip(f"pip reaches no index ({found[0]})")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder / "venv"


@pytest.mark.release
def test_the_command_lists_a_repository_where_nothing_else_is_installed(
    environment: Path, make_repository: MakeRepository, tmp_path: Path
) -> None:
    told = json.loads(run(environment / "bin" / "python", "-c", ASKED, cwd=tmp_path))
    assert told["found"] == []
    assert all(Path(place).is_relative_to(environment) for place in (told["engine"], *told["places"]))
    repository = make_repository(FILES)
    rows = run(environment / "bin" / "testlist", repository, "--format", "jsonl", cwd=tmp_path).splitlines()
    assert [(row["file"], row["framework"], row["name"]) for row in map(json.loads, rows)] == [
        ("cart.test.js", "node-test", "adds"),
        ("test_cart.py", "pytest", "test_adds"),
    ]
    module = run(environment / "bin" / "python", "-m", "testlist", repository, cwd=tmp_path)
    assert module.endswith("2 tests in 2 files: 1 node-test, 1 pytest, 2 active\n")
