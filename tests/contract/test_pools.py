"""A worker starts only with a pool in which jobs are apart, as large as its queues' settings say."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.contract.conftest import ROOT
from tests.contract.test_processes import URL
from tests.tiers import few


@pytest.mark.parametrize("pool", few(1, ["threads", "tasks.pools:Unknown"]))
def test_a_pool_that_runs_several_jobs_in_one_process_is_refused(pool: str, tmp_path: Path) -> None:
    env = os.environ | {"DATABASE_URL": URL, "FAIRLANE_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "celery", "-A", "tasks", "worker", "-Q", "analysis_default", "-c", "2"]
    if pool == "threads":
        command += ["-P", pool]
    else:
        command += ["-P", "custom"]
        env["CELERY_CUSTOM_WORKER_POOL"] = "celery.concurrency.thread:TaskPool"
    done = subprocess.run(command, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)
    assert done.returncode == 1
    assert done.stderr.strip().splitlines()[-1] == (
        "fairlane: the worker pool 'thread' runs several jobs in one process, without time limits: use prefork or solo"
    )


ASK = """
import sys
from tasks.celery import app
queues, given = sys.argv[1].split(","), int(sys.argv[2]) or None
print(app.Worker(queues=queues, hostname="node@here", concurrency=given).concurrency)
"""


@pytest.mark.parametrize(
    ("queues", "given", "size"),
    few(1, [("analysis_priority", 0, 5), ("analysis_priority,specview_scheduled", 0, 6), ("analysis_priority", 9, 9)]),
)
def test_a_node_without_a_number_has_the_processes_of_its_queues(
    queues: str, given: int, size: int, tmp_path: Path
) -> None:
    env = os.environ | {"DATABASE_URL": URL, "FAIRLANE_HOME": str(tmp_path)}
    argv = [sys.executable, "-c", ASK, queues, str(given)]
    done = subprocess.run(argv, cwd=ROOT, env=env, capture_output=True, text=True, timeout=120)
    assert (done.stdout.strip(), done.returncode) == (str(size), 0), done.stderr
