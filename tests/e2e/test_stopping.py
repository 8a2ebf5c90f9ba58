"""How workers stop: what a supervisor ends is handed back and costs nobody an attempt."""

import os
import signal
from pathlib import Path
from uuid import UUID

import pytest
import yaml
from durable_harness.waiting import wait_for

from app.cli.up import GRACE_SECONDS
from app.errors import BadSetting
from app.settings import load
from tests.e2e.conftest import System
from tests.nodes import lives
from tests.tiers import proofs

ROOT = Path(__file__).parents[2]
#: What a stop takes besides its grace, on a busy machine.
STOP_SECONDS = 8.0


@pytest.mark.parametrize("stop", proofs([signal.SIGTERM, signal.SIGINT], but=[signal.SIGTERM]))
def test_a_worker_that_is_asked_to_stop_hands_its_running_job_back_at_once_and_uncharged(
    system: System, stop: signal.Signals
) -> None:
    job_id = system.submit(system.user(), "slow")
    worker = system.stalling_worker(processes=2, LEASE_SECONDS="120")
    system.wait(job_id, "running")
    children = worker.container.children()
    worker.kill(signal=stop)
    # the end of its lease would hand it back after two minutes; the figures are from `make prove-rolling`
    wait_for(lambda: system.job(job_id)["status"] == "queued", "the job to be handed back", seconds=30)
    assert not [child for child in children if lives(child)]
    worker.container.wait()
    assert_uncharged(system, job_id)


@pytest.mark.proof
def test_a_child_that_stands_still_keeps_no_stop_waiting(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    worker = system.stalling_worker(SHUTDOWN_GRACE="0")
    system.wait(job_id, "running")
    (child,) = worker.container.children()
    child.suspend()
    worker.kill(signal="SIGTERM")
    worker.container.wait()
    assert_uncharged(system, job_id)


@pytest.mark.proof
def test_a_signal_to_the_whole_group_charges_nobody_either(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    worker = system.stalling_worker()
    system.wait(job_id, "running")
    os.killpg(worker.container.pid, signal.SIGTERM)  # the worker and its pool, as systemd does unless it is told not to
    worker.container.wait()
    assert_uncharged(system, job_id)


def test_the_grace_is_shorter_than_what_any_supervisor_leaves() -> None:
    longest = load({"SHUTDOWN_GRACE": "20s"}).shutdown_grace.total_seconds()
    with pytest.raises(BadSetting, match="SHUTDOWN_GRACE"):
        load({"SHUTDOWN_GRACE": "21s"})
    assert longest + STOP_SECONDS <= GRACE_SECONDS
    compose = yaml.safe_load((ROOT / "docker" / "compose.yaml").read_text())["services"]
    workers = {name: service["stop_grace_period"] for name, service in compose.items() if name.startswith("worker_")}
    assert len(workers) == 7
    assert all(longest + STOP_SECONDS <= float(given.removesuffix("s")) for given in workers.values())


def assert_uncharged(system: System, job_id: UUID) -> None:
    job = system.job(job_id)
    assert (job["status"], job["attempt"]) == ("queued", 1)
    assert system.world.value("SELECT retry_count + lost_count FROM kombu_message") == 0
