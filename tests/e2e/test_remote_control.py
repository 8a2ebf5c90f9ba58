"""Remote control of the service's own workers: an operator may not break what a job promises."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.e2e.conftest import SLOW_FILES, System, slow_files
from tests.nodes import wait_for

ROOT = Path(__file__).parents[2]
LEFT = "SELECT 1 FROM quota_reservations UNION ALL SELECT 1 FROM execution_slots UNION ALL SELECT 1 FROM kombu_message"


def celery(system: System, *arguments: str) -> str:
    command = [sys.executable, "-m", "celery", "-A", "tasks", *arguments]
    done = subprocess.run(
        command, cwd=ROOT, env=system.nodes.environment(), capture_output=True, text=True, timeout=30, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("signal", ["SIGTERM", "SIGKILL"])
def test_revoking_a_job_cancels_it_whether_it_runs_or_waits(system: System, signal: str) -> None:
    user = system.user()
    running = system.submit(user, "slow", slow_files(3 * SLOW_FILES))  # two commands take some seconds to start
    system.nodes.worker(processes=2, FAIRNESS_SNOOZE_DURATION="600s")
    system.wait(running, "running")
    waiting = system.submit(user, "quick")
    system.wait(waiting, "waiting")
    assert str(running) in celery(system, "inspect", "active")
    celery(system, "control", "revoke", str(waiting), str(running))
    celery(system, "control", "terminate", signal, str(running))
    for job_id in (running, waiting):
        wait_for(lambda job_id=job_id: system.job(job_id)["status"] == "cancelled", "the cancellation", seconds=60)
    assert system.world.rows(LEFT) == []
    assert system.world.rows("SELECT 1 FROM usage_events") == []
    assert system.world.value("SELECT count(DISTINCT subject) FROM audit_log WHERE action = 'job.revoke'") == 2
