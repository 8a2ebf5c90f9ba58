"""Remote control of the service's own workers: an operator may not break what a job promises."""

import socket
import subprocess
import sys
from pathlib import Path

import pytest
from durable_harness.waiting import wait_for

from tests.e2e.conftest import System

pytestmark = pytest.mark.proof

ROOT = Path(__file__).parents[2]
LEFT = "SELECT 1 FROM quota_reservations UNION ALL SELECT 1 FROM execution_slots UNION ALL SELECT 1 FROM kombu_message"


def celery(system: System, *arguments: str, nodes: int = 1) -> str:
    """A command to so many nodes, which waits for all their answers."""
    all_of_them = ",".join(f"node{number}@{socket.gethostname()}" for number in range(nodes))
    command = [sys.executable, "-m", "celery", "-A", "tasks", arguments[0], "--timeout", "60", "-d", all_of_them]
    command += arguments[1:]
    done = subprocess.run(
        command, cwd=ROOT, env=system.nodes.environment(), capture_output=True, text=True, timeout=240, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


AUDITED = "SELECT count(*) AS acts, count(DISTINCT subject) AS jobs FROM audit_log WHERE action = 'job.revoke'"
COMMANDS = {"revoke": ("revoke",), "terminate": ("terminate", "SIGTERM"), "kill": ("terminate", "SIGKILL")}


@pytest.mark.parametrize("command", COMMANDS)
def test_revoking_a_job_cancels_it_whether_it_runs_or_waits(system: System, command: str) -> None:
    user = system.user()
    running = system.submit(user, "slow")
    for _ in range(2):  # each node hears it, one does it
        system.stalling_worker(processes=2, FAIRNESS_SNOOZE_DURATION="600s")
    system.wait(running, "running")
    waiting = system.submit(user, "quick")
    system.wait(waiting, "waiting")
    assert str(running) in celery(system, "inspect", "active", nodes=2)
    celery(system, "control", *COMMANDS[command], str(waiting), str(running), nodes=2)
    for job_id in (running, waiting):
        wait_for(lambda job_id=job_id: system.job(job_id)["status"] == "cancelled", "the cancellation", seconds=60)
    assert system.world.rows(LEFT) == []
    assert system.world.rows("SELECT 1 FROM usage_events") == []
    assert system.world.rows(AUDITED) == [{"acts": 2, "jobs": 2}]


def test_revoking_a_job_that_no_worker_has_cancels_it_at_once(system: System) -> None:
    system.nodes.worker("specview_default")
    job_id = system.submit(system.user())
    celery(system, "control", "revoke", str(job_id), "no-job")
    wait_for(lambda: system.job(job_id)["status"] == "cancelled", "the cancellation")
    assert system.world.rows(LEFT) == []
