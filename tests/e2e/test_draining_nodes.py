"""`fairlane drain`: a node takes no more messages, its jobs end, and others take what it leaves."""

from __future__ import annotations

import json
import socket
import subprocess
import sys

import pytest
from click.testing import CliRunner, Result
from durable_harness.waiting import wait_for

from app.cli import main
from app.services.operations import nodes
from app.services.operations.nodes import NodeState, state_of
from tests.e2e.conftest import System
from tests.nodes import ROOT, LocalWorker

AUDITED = "SELECT action, subject, facts ->> 'reason' AS reason FROM audit_log WHERE action LIKE 'node.%' ORDER BY id"


def fairlane(system: System, *arguments: str) -> Result:
    return CliRunner().invoke(main, arguments, env=dict(system.nodes.environment()))


def name_of(system: System, worker: LocalWorker) -> str:
    """A node's name, once others see the node."""
    name = f"{socket.gethostname()}:{worker.container.pid}"
    wait_for(lambda: name in [node.name for node in nodes.states(system.world.uow)], "the node to be seen")
    return name


def shown(system: System) -> dict[str, NodeState]:
    return {node.name: state_of(node) for node in nodes.states(system.world.uow)}


@pytest.mark.proof
def test_a_node_that_drains_takes_no_more_and_its_job_ends(system: System) -> None:
    slow = system.submit(system.user(), "slow")
    first = system.stalling_worker(processes=2)
    system.wait(slow, "running")
    name = name_of(system, first)
    begun = fairlane(system, "drain", name, "--no-wait", "--reason", "a new kernel")
    assert (begun.exit_code, shown(system)) == (0, {name: NodeState.DRAINING}), begun.output
    assert begun.output.endswith(f"{name} takes no more messages, and holds 1 message\n")
    assert [row["state"] for row in json.loads(fairlane(system, "nodes", "--json").stdout)] == ["draining"]

    quick = system.submit(system.user())
    system.nodes.worker()
    system.wait(quick, "completed")
    assert str(quick) not in first.container.logs()  # it had a process to spare
    late = fairlane(system, "drain", name, "--timeout", "0")
    assert (late.exit_code, system.job(slow)["status"]) == (1, "running")
    assert f"{name} still holds 1 message, and takes no more" in late.output

    system.go_on()
    done = fairlane(system, "drain", name)
    assert (done.exit_code, done.output.splitlines()[-1]) == (0, f"{name} is drained: nothing runs")
    assert system.wait(slow, "completed")["attempt"] == 1


def test_a_drained_node_comes_back(system: System) -> None:
    name = name_of(system, system.nodes.worker())
    drained = fairlane(system, "drain", name, "--reason", "a new kernel")
    assert (drained.exit_code, shown(system)) == (0, {name: NodeState.DRAINED}), drained.output
    waiting = system.submit(system.user())
    back = fairlane(system, "undrain", name)
    assert (back.exit_code, shown(system)) == (0, {name: NodeState.SERVING}), back.output
    system.wait(waiting, "completed")
    assert system.world.rows(AUDITED) == [
        {"action": "node.drain", "subject": name, "reason": "a new kernel"},
        {"action": "node.undrain", "subject": name, "reason": None},
    ]


def test_a_node_that_is_not_there_is_refused_with_those_that_are(system: System) -> None:
    refused = fairlane(system, "drain", "web-1:7")
    assert refused.exit_code == 1
    assert "There is no living node or host 'web-1:7'; expected one of " in refused.output
    assert system.world.rows(AUDITED) == []


@pytest.mark.proof
def test_a_host_is_drained_with_all_of_its_nodes_and_others_of_its_names_are_named(system: System) -> None:
    names = {name_of(system, system.nodes.worker()), name_of(system, system.nodes.worker("specview_default"))}
    done = fairlane(system, "drain", socket.gethostname(), "--json")
    assert (done.exit_code, {row["name"]: row["state"] for row in json.loads(done.stdout)}) == (
        0, dict.fromkeys(names, "drained"),
    )  # fmt: skip
    assert shown(system) == dict.fromkeys(names, NodeState.DRAINED)
    refused = fairlane(system, "drain", "elsewhere")
    assert refused.exit_code == 1
    assert all(name in refused.output for name in names)
    assert fairlane(system, "undrain", socket.gethostname()).exit_code == 0
    assert shown(system) == dict.fromkeys(names, NodeState.SERVING)


@pytest.mark.proof
def test_a_node_that_dies_while_it_drains_is_no_success(system: System) -> None:
    job_id = system.submit(system.user(), "slow")
    worker = system.stalling_worker()
    system.wait(job_id, "running")
    name = name_of(system, worker)
    draining = subprocess.Popen(
        [sys.executable, "-m", "app.cli", "drain", name], cwd=ROOT, env=system.nodes.environment(),
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )  # fmt: skip
    wait_for(lambda: shown(system)[name] is NodeState.DRAINING, "the node to drain")
    worker.kill()
    said = draining.communicate(timeout=240)[0]
    assert (draining.returncode, f"{name} ended while it held 1 message" in said) == (1, True), said
    system.go_on()
    system.stalling_worker()
    system.wait(job_id, "completed")
