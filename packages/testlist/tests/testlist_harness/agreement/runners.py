"""Runners that list a project's tests: pytest without running them, those of JavaScript as each of them can."""

import json
import os
import shutil
import subprocess
import sys
from collections import defaultdict
from collections.abc import Sequence
from pathlib import Path

from testlist_harness.agreement.registries import node
from testlist_harness.agreement.score import Listed

HOOKS = Path(__file__).with_name("hooks")
SECONDS = 300


def pytest_lists(
    project: Path, out: Path, *options: str, python: str = sys.executable, plain: bool = False
) -> tuple[list[Listed], str]:
    """What pytest collects in a folder, and what it printed.  plain: without installed plugins."""
    plugins = out.parent / "plugins"  # a path of its own: the project's packages may be called as ours are
    plugins.mkdir()
    shutil.copy(HOOKS / "native.py", plugins)
    paths = [str(path) for path in (plugins, project / "src") if path.is_dir()]
    env = {"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1"}
    env |= {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"} if plain else {}
    argv = [python, "-m", "pytest", "-p", "native", "--collect-only", "-q", "-W", "ignore"]
    return _rows([*argv, "-p", "no:cacheprovider", *options], project, out, env)


def javascript_lists(runner: str, project: Path, out: Path, *options: str) -> tuple[list[Listed], str]:
    """What a runner of JavaScript lists in a folder that stands beside its node_modules, and what it printed.

    mocha and vitest list without running; jest and node's own runner tell their tests as they run them.
    """
    around = project.parent
    for hook in HOOKS.glob("*.*js"):
        shutil.copy(hook, around)
    argv = {
        "mocha": ["node_modules/mocha/bin/mocha.js", "--dry-run", "--require", "mocha.cjs"],
        "vitest": ["vitest.mjs"],
        "jest": ["node_modules/jest/bin/jest.js", "--testLocationInResults", "--reporters", "jest.cjs", "--no-cache"],
        "node-test": [
            "--test",
            "--test-concurrency=1",
            "--test-reporter",
            "node-test.mjs",
            "--test-reporter-destination",
        ],
    }[runner]
    argv = [str(around / word) if (around / word).is_file() else word for word in argv]
    if runner == "node-test":
        argv.append(str(out))
    listed, printed = _rows([node(), *argv, *options], project, out, {"CI": "1"})
    return _folded(listed, runner), printed


def _rows(argv: Sequence[str], project: Path, out: Path, more: dict[str, str]) -> tuple[list[Listed], str]:
    env = os.environ | {"NATIVE_OUT": str(out)} | more
    done = subprocess.run(argv, cwd=project, env=env, capture_output=True, text=True, check=False, timeout=SECONDS)
    printed = done.stdout + done.stderr
    assert out.exists(), printed
    rows = json.loads(out.read_text(encoding="utf-8"))
    listed = [
        Listed(
            row["file"],
            row["line"],
            row["column"],
            tuple(row["name"]),
            row.get("framework", ""),
            frozenset(row["statuses"]),
        )
        for row in rows
    ]
    return listed, printed


def _folded(rows: Sequence[Listed], framework: str) -> list[Listed]:
    """One of each call: what loops and tables made of it has no name, and no status but the common one."""
    calls = defaultdict[tuple[str, int, int, object], list[Listed]](list)
    for row in rows:
        calls[row.file, row.line, row.column, None if row.line else row.name].append(row)  # vitest loses a few places
    return [
        Listed(
            *place[:3],
            name=same[0].name if len({row.name for row in same}) == 1 else None,
            framework=framework,
            statuses=same[0].statuses if len({row.statuses for row in same}) == 1 else frozenset(),
        )
        for place, same in calls.items()
    ]
