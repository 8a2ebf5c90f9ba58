"""Children and hosts that hang, grow or are killed: a file is named with its reason, everything else is listed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from threading import Event, Timer
from types import SimpleNamespace

import pytest
from testlist import GitLimits, InventoryError, ParseLimits, Source, fetched, inventory, resolve
from testlist.progress import Progress
from testlist.sandbox.parsers import Job, Parsers
from testlist_harness.githost import serving
from testlist_harness.processes import mentioning, no_children_left
from testlist_harness.repositories import MakeRepository, git


def test_a_child_that_gets_no_processor_for_a_while_costs_no_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("testlist.sandbox.parsers.STARVED", 300)
    limits = ParseLimits(file_seconds=0.2, children=1)
    stopped = Event()
    with Parsers(limits) as parsers:
        parsers.warm(["python"])
        pid = parsers.idle[0].process.pid
        os.kill(pid, signal.SIGSTOP)
        goes_on = Timer(3 * limits.file_seconds, lambda: (stopped.set(), os.kill(pid, signal.SIGCONT)))
        goes_on.start()
        results = dict(parsers.parse(iter([Job("late", "python", b"def test_a(): pass\n")])))
        assert stopped.is_set()
    assert "skipped" not in results["late"]
    no_children_left()


def test_a_child_that_gets_none_at_all_is_given_up() -> None:
    with Parsers(ParseLimits(file_seconds=0.05, children=1)) as parsers:
        parsers.warm(["python"])
        os.kill(parsers.idle[0].process.pid, signal.SIGSTOP)
        results = dict(parsers.parse(iter([Job("never", "python", b"def test_a(): pass\n")])))
    assert results == {"never": {"skipped": "parse_timeout"}}
    no_children_left()


@pytest.mark.proof
def test_a_slow_file_is_named_and_its_neighbours_are_parsed() -> None:
    slow = Job("slow", "python", b"[" * 1_000_000)
    jobs = [Job("before", "python", b"x = 1"), slow, *(Job(f"after {n}", "python", b"x = 1") for n in range(40))]
    with Parsers(ParseLimits(file_seconds=0.0005)) as parsers:
        results = dict(parsers.parse(iter([slow])))
    assert results == {"slow": {"skipped": "parse_timeout"}}
    with Parsers(ParseLimits()) as parsers:
        assert dict(parsers.parse(iter(jobs))).keys() == {job.key for job in jobs}
    no_children_left()


def test_a_file_that_needs_too_much_memory_is_named_and_its_neighbours_are_parsed() -> None:
    greedy = Job("greedy", "python", b"x = " + b"[a," * 300_000)
    jobs = [*(Job(f"before {n}", "python", b"x = 1") for n in range(3)), greedy, Job("after", "python", b"x = 1")]
    with Parsers(ParseLimits(memory_bytes=70 << 20, file_seconds=20.0)) as parsers:
        results = dict(parsers.parse(iter(jobs)))
    assert results.pop("greedy") == {"skipped": "parse_failed"}
    assert all("skipped" not in facts for facts in results.values())
    assert len(results) == 4


def test_a_child_killed_from_outside_costs_no_file() -> None:
    jobs = [Job(str(number), "python", b"def f(): pass\n" * 50) for number in range(200)]
    killed: list[int] = []
    with Parsers(ParseLimits(children=1)) as parsers:
        results = {}
        for key, facts in parsers.parse(iter(jobs)):
            results[key] = facts
            if not killed:
                killed = [child.process.pid for child in parsers.busy]
                os.kill(killed[0], signal.SIGKILL)
    assert len(results) == len(jobs)
    assert not any("skipped" in facts for facts in results.values())


def test_a_host_that_answers_nothing_is_given_up(tmp_path: Path) -> None:
    over = Event()
    with serving(tmp_path, stall=over) as host:
        source = Source.remote(f"{host}/repo", plain_http=True)
        with pytest.raises(InventoryError) as caught:
            resolve(source, None, limits=GitLimits(wall_seconds=0.4))
        over.set()
    assert (caught.value.code, caught.value.retryable) == ("git_timeout", True)
    no_children_left()


class Stop(Exception):  # noqa: N818 - it is no error
    """Raised by a checkpoint."""


def test_a_checkpoint_stops_a_run_that_waits_for_a_silent_host(tmp_path: Path) -> None:
    over = Event()
    calls = []

    def checkpoint(phase: str, done: int, total: int) -> None:
        calls.append(phase)
        if len(calls) == 2:
            raise Stop

    with serving(tmp_path, stall=over) as host:
        source = Source.remote(f"{host}/repo", plain_http=True)
        began = time.monotonic()
        with pytest.raises(Stop), fetched(source, "1" * 40, workdir=tmp_path / "work", checkpoint=checkpoint):
            pass
        assert time.monotonic() - began < 30  # the host answers nothing until the end of the test
        over.set()
    assert list((tmp_path / "work").iterdir()) == []
    no_children_left()


@pytest.mark.parametrize("calls", [1, 2, 3, 5, 8])
def test_a_checkpoint_may_stop_a_run_at_any_point(calls: int, make_repository: MakeRepository, tmp_path: Path) -> None:
    repository = make_repository({f"test_{number}.py": "def test_a(): pass\n" for number in range(50)})
    head = git(repository, "rev-parse", "HEAD")
    count = 0

    def checkpoint(phase: str, done: int, total: int) -> None:
        nonlocal count
        count += 1
        if count == calls:
            raise Stop

    def run(url: str) -> None:
        source = Source.remote(url, plain_http=True)
        with fetched(source, head, workdir=tmp_path / "work", checkpoint=checkpoint) as repo:
            repo.progress.every = repo.progress.due = 0.0  # every call comes through
            inventory(repo)

    with serving(tmp_path) as host, pytest.raises(Stop):
        run(f"{host}/repo/.git")
    assert list((tmp_path / "work").iterdir()) == []
    no_children_left()


def test_a_pulse_passes_on_the_first_call_and_then_two_a_second(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[tuple[str, int, int]] = []
    progress = Progress(lambda *values: seen.append(values))
    for number in range(1_000):
        monkeypatch.setattr("testlist.progress.time", SimpleNamespace(monotonic=lambda now=number / 1_000: now))
        progress.at("parsing", number, 1_000)
    assert seen == [("parsing", 0, 1_000), ("parsing", 500, 1_000)]


KILLED = """
import sys
from pathlib import Path
from testlist import Source, fetched
def checkpoint(phase, done, total):
    print("waiting", flush=True)
source = Source.remote(sys.argv[1], plain_http=True)
with fetched(source, "1" * 40, workdir=Path(sys.argv[2]), checkpoint=checkpoint):
    pass
"""


@pytest.mark.proof
def test_a_killed_worker_leaves_no_git_and_the_next_run_removes_its_directory(
    make_repository: MakeRepository, tmp_path: Path
) -> None:
    repository = make_repository(
        {"test_good.py": "def test_good(): pass\n", "src/good.test.js": "it('good', () => {})\n"}
    )
    head = git(repository, "rev-parse", "HEAD")
    over, work = Event(), tmp_path / "work"
    with serving(tmp_path, stall=over) as host:
        argv = [sys.executable, "-c", KILLED, f"{host}/repo", str(work)]
        with subprocess.Popen(argv, stdout=subprocess.PIPE) as worker:
            assert worker.stdout is not None
            assert worker.stdout.readline() == b"waiting\n"
            worker.kill()
        patience = time.monotonic() + 60
        while (running := mentioning(host)) and time.monotonic() < patience:
            os.sched_yield()
        assert running == []
        over.set()
    left = list(work.iterdir())
    assert left
    with (
        serving(tmp_path) as host,
        fetched(Source.remote(f"{host}/repo/.git", plain_http=True), head, workdir=work) as repo,
    ):
        assert repo.directory.is_dir()
        assert not any(path.exists() for path in left)
    assert list(work.iterdir()) == []
