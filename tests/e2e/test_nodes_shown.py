"""What the operator is shown of real nodes."""

from durable_harness.waiting import wait_for

from app.services.operations import nodes
from tests.e2e.conftest import System


def test_a_node_is_shown_with_its_queues_its_processes_and_its_job_until_it_ends(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    worker = system.stalling_worker(processes=2)
    system.wait(job_id, "running")
    [node] = nodes.states(system.world.uow)
    assert (node.is_alive, node.processes, node.leased) == (True, 2, 1)
    assert [(job.job_id, job.queue) for job in node.running] == [(job_id, "analysis_default")]
    assert "analysis_default" in node.queues
    assert node.seen_at is not None
    assert node.name.endswith(f":{worker.container.pid}")
    worker.kill()
    wait_for(lambda: not any(one.is_alive for one in nodes.states(system.world.uow)), "the death to show")
