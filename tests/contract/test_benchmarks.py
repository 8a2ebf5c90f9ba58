"""Each module of the benchmarks can be imported: they run seldom, and a name that moved would be noticed then."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT

BROKER = ROOT / "packages" / "celery-durable"
PATHS = (ROOT, ROOT / "tests" / "harness", ROOT / "packages/testlist/tests", BROKER / "bench", BROKER / "tests")
#: Of systems that are compared with, which a benchmark installs for itself.
RIVALS = {"asyncpg", "oban", "procrastinate"}
IMPORT = """
import importlib, sys
for name in sys.argv[2:]:
    try:
        importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name not in sys.argv[1].split(","):
            raise
"""


def modules(folder: Path, root: Path) -> list[str]:
    parts = (path.relative_to(root).with_suffix("").parts for path in sorted(folder.rglob("*.py")))
    return [".".join(part for part in names if part != "__init__") for names in parts]


@pytest.mark.proof
@pytest.mark.parametrize(
    "names",
    [modules(ROOT / "bench", ROOT), modules(BROKER / "bench", BROKER / "bench")],
    ids=["service", "celery-durable"],
)
def test_each_benchmark_can_be_imported(names: list[str], tmp_path: Path) -> None:
    env = os.environ | {
        "PYTHONPATH": os.pathsep.join(map(str, PATHS)),
        **{f"BENCH_{name}": "1" for name in ("MULTIPLIER", "MESSAGES", "DATABASE", "FOLDER", "VARIANT")},
        "BENCH_URL": "durable+postgresql+psycopg2://nobody@127.0.0.1:1/none",
        "DATABASE_URL": "postgresql://nobody@127.0.0.1:1/none",
        "FAIRLANE_HOME": str(tmp_path),
    }
    argv = [sys.executable, "-c", IMPORT, ",".join(RIVALS), *names]
    done = subprocess.run(argv, env=env, cwd=tmp_path, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert len(names) > 20
