"""How many worker processes fit a machine, what it has, and what `fairlane up` says about both."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app import machine
from app.cli import worker_size
from app.domain.queues import ALL_QUEUES, MAINTENANCE
from app.domain.sizing import IDLE, JOB, NODE, PART, PER_PROCESSOR, REST, WorkerSize, fitting, least_memory
from app.errors import Problem
from app.machine import Machine
from app.settings import Settings

WANTED = {queue: Settings().workers(queue) for queue in ALL_QUEUES}
GIB = 1 << 30


def fit(gib: float, processors: float = 2, fixed: tuple[str, ...] = (), **wanted: int) -> WorkerSize:
    return fitting(WANTED | wanted, fixed=fixed, memory=round(gib * GIB), processors=processors)


def counts(size: WorkerSize) -> dict[str, int]:
    return {node.name: node.processes for node in size.nodes}


def test_a_machine_with_enough_of_both_runs_what_the_settings_say() -> None:
    assert counts(fit(16)) == WANTED
    assert counts(fit(1000, 100)) == WANTED


def test_with_less_memory_there_are_fewer_processes_in_the_same_proportions() -> None:
    small = fit(4.2)
    assert len(small.nodes) == 7
    assert 7 <= small.processes < sum(WANTED.values())
    assert small.jobs >= small.processes
    of = counts(fit(100, 12 / PER_PROCESSOR))
    assert [of[queue] for queue in ALL_QUEUES] == [4, 2, 1, 2, 1, 1, 1]


def test_with_fewer_processors_there_are_fewer_processes() -> None:
    assert fit(100, 1).processes == PER_PROCESSOR
    assert fit(100, 0.25).processes == len(ALL_QUEUES)


def test_a_small_machine_has_a_node_per_tier_and_each_queue_one_process() -> None:
    small = fit(1.8)
    assert counts(small) == {"priority": 2, "default": 2, "scheduled": 2, MAINTENANCE: 1}
    assert {queue for node in small.nodes for queue in node.queues} == set(ALL_QUEUES)
    assert 0 < small.jobs < small.processes


def test_numbers_that_were_set_are_kept() -> None:
    small = fit(1.8, fixed=("analysis_default",), analysis_default=9)
    assert counts(small)["default"] == 10
    assert fit(100, 1, ("analysis_priority",)).processes == 5 + 6


@given(memory=st.integers(0, 64 * GIB), processors=st.floats(0.1, 64))
def test_each_queue_is_served_and_what_is_said_to_fit_fits(memory: int, processors: float) -> None:
    size = fitting(WANTED, fixed=(), memory=memory, processors=processors)
    assert sorted(queue for node in size.nodes for queue in node.queues) == sorted(ALL_QUEUES)
    assert all(node.processes >= len(node.queues) for node in size.nodes)
    idle = REST + len(size.nodes) * NODE + size.processes * IDLE
    assert size.jobs == 0 or idle + size.jobs * JOB <= memory * PART
    assert (size.jobs == 0) == (memory < least_memory(size))


@pytest.fixture
def has(monkeypatch: pytest.MonkeyPatch) -> Any:
    def has(gib: float, processors: float) -> None:
        monkeypatch.setattr(machine, "read", lambda: Machine(round(gib * GIB), processors))

    return has


def test_the_line_says_what_runs_on_what(has: Any) -> None:
    for gib, processors, line in (
        (23, 2, "17 worker processes in 7 nodes, for 24.7 GB of memory and 2 processors"),
        (23, 1, "9 of 17 worker processes in 7 nodes, for 24.7 GB of memory and 1 processor"),
    ):
        has(gib, processors)
        assert worker_size.size_of(Settings(), None)[1] == line
    has(1.8, 2)
    size, line = worker_size.size_of(Settings(), None)
    enough = f"1.9 GB of memory is enough for {size.jobs} of them to have a job at once"
    assert line == f"7 of 17 worker processes in 4 nodes; {enough}"


def test_a_machine_that_is_too_small_is_refused_unless_the_nodes_are_named(has: Any) -> None:
    has(0.5, 1)
    with pytest.raises(Problem, match=r"has 0\.5 GB of memory, and 7 worker processes in 4 nodes need \d\.\d GB"):
        worker_size.size_of(Settings(), None)
    size, line = worker_size.size_of(Settings(analyzer_queue_default_workers=1), "tier")
    assert line == "15 worker processes in 4 nodes (--workers tier)"
    assert size.processes == 15


def test_limits_of_control_groups_of_both_versions_and_of_those_around_them_are_found(tmp_path: Path) -> None:
    proc, cgroups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    all_of_it = machine.read(proc, cgroups)
    assert all_of_it.memory > 0
    assert all_of_it.processors >= 1
    (proc / "self" / "cgroup").write_text("4:memory:/jobs/one\n3:cpu:/jobs\n0::/a/b\n")
    for name, said in {
        "memory/jobs/one/memory.limit_in_bytes": "9223372036854771712\n",
        "memory/jobs/memory.limit_in_bytes": "3000000\n",
        "cpu/jobs/cpu.cfs_quota_us": "-1\n",
        "cpu/jobs/cpu.cfs_period_us": "100000\n",
        "a/b/memory.max": "max\n",
        "a/b/cpu.max": "max 100000\n",
        "a/memory.max": "2000000\n",
        "a/cpu.max": "50000 100000\n",
    }.items():
        cgroups.joinpath(name).parent.mkdir(parents=True, exist_ok=True)
        cgroups.joinpath(name).write_text(said)
    assert machine.read(proc, cgroups) == Machine(2_000_000, 0.5)
    cgroups.joinpath("a/memory.max").unlink()
    cgroups.joinpath("a/cpu.max").unlink()
    cgroups.joinpath("cpu/jobs/cpu.cfs_quota_us").write_text("25000\n")
    assert machine.read(proc, cgroups) == Machine(3_000_000, 0.25)


def test_the_folder_of_a_control_group_may_have_any_name(tmp_path: Path) -> None:
    proc, cgroups = tmp_path / "proc", tmp_path / "cgroup"
    (proc / "self").mkdir(parents=True)
    (proc / "self" / "cgroup").write_bytes(b"0::/jobs\xe9\r\n")
    folder = Path(os.fsdecode(os.fsencode(cgroups) + b"/jobs\xe9\r"))
    folder.mkdir(parents=True)
    (folder / "memory.max").write_text("2000000\n")
    assert machine.read(proc, cgroups).memory == 2_000_000
