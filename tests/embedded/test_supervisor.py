from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from app import processes
from app.supervisor import AlreadyRunning, alone
from app.supervisor.child import BACKOFF_SECONDS
from app.supervisor.output import Lines, Output
from tests.embedded.conftest import pid_of, running

Helper = Callable[..., subprocess.Popen[str]]
Until = Callable[[Callable[[], object]], None]

RUN = """
import json, sys
from pathlib import Path
from app.supervisor import Child, run
folder = Path(sys.argv[1])
children = [
    Child(name, [sys.executable, "-uc", "from pathlib import Path\\n" + code, sys.argv[1]],
          {"NAME": name}, (lambda name=name: (folder / name).exists()))
    for name, code in json.loads(sys.argv[2]).items()
]
raise SystemExit(run(children, on_ready=lambda: print("all ready", flush=True), grace=float(sys.argv[3])))
"""
# each child notes its process number in a file of its name, which also makes it ready
NOTE = "import os, sys, time, signal\nPath(sys.argv[1], os.environ['NAME']).write_text(str(os.getpid()))\n"
SLEEP = NOTE + "time.sleep(600)\n"
STUBBORN = (
    "import signal\nsignal.signal(signal.SIGTERM, signal.SIG_IGN)\nsignal.signal(signal.SIGQUIT, signal.SIG_IGN)\n"
    + SLEEP
)
# two grandchildren: one in the child's group, one that made a session of its own
PARENT = (
    "import subprocess, sys, os\n"
    "for own in (False, True):\n"
    "    child = subprocess.Popen(['sleep', '600'], start_new_session=own)\n"
    "    Path(sys.argv[1], f'grand{own}').write_text(str(child.pid))\n" + SLEEP
)


@pytest.fixture
def tree(tmp_path: Path, helper: Helper) -> Callable[..., subprocess.Popen[str]]:
    def start(children: dict[str, str], grace: float = 20, **env: str) -> subprocess.Popen[str]:
        return helper(RUN, tmp_path, json.dumps(children), grace, **env)

    return start


def noted(folder: Path, *names: str) -> list[int]:
    return [int((folder / name).read_text() or 0) for name in names]


def read_until(process: subprocess.Popen[str], word: str) -> str:
    said = ""
    while word not in said:
        line = process.stdout.readline()
        assert line, f"{word!r} did not come: {said}"
        said += line
    return said


def gone(*pids: int) -> bool:
    return not any(processes.alive(pid) for pid in pids)


def test_all_are_ready_then_all_stop_cleanly(tree: Helper, tmp_path: Path) -> None:
    up = tree({"web": "print('hello')\n" + SLEEP, "worker": PARENT})
    said = read_until(up, "all ready")
    assert "web    | hello\n" in said
    pids = noted(tmp_path, "web", "worker", "grandFalse", "grandTrue")
    assert not gone(pids[0])
    up.terminate()
    up.communicate(timeout=240)
    assert up.returncode == 0
    assert gone(*pids)


@pytest.mark.proof
def test_a_child_that_dies_is_started_again_later_each_time(tree: Helper, tmp_path: Path) -> None:
    up = tree({"web": SLEEP, "bad": NOTE + "print('here')\nraise SystemExit(3)"})
    said = read_until(up, f"again_in_seconds={BACKOFF_SECONDS[1]}")
    assert f"child_ended child=bad code=3 again_in_seconds={BACKOFF_SECONDS[0]}" in said
    assert said.count("bad | here") == 2
    up.terminate()
    assert up.wait(120) == 0


@pytest.mark.proof
def test_a_killed_child_takes_its_group_with_it_before_it_starts_again(
    tree: Helper, tmp_path: Path, until: Until
) -> None:
    up = tree({"worker": PARENT})
    read_until(up, "all ready")
    child, grand = noted(tmp_path, "worker", "grandFalse")
    os.kill(child, signal.SIGKILL)
    read_until(up, "code=-9")
    until(lambda: gone(child, grand))
    until(lambda: noted(tmp_path, "worker") != [child])
    up.terminate()
    assert up.wait(120) == 0


def test_json_lines_pass_untouched_and_others_become_json(tree: Helper) -> None:
    up = tree({"web": "print('{\"event\": 1}')\nprint('no JSON')\n" + SLEEP}, LOG_FORMAT="json")
    said = read_until(up, "all ready")
    up.terminate()
    said = said.replace("all ready\n", "") + up.communicate(timeout=240)[0]
    assert '{"event": 1}\n' in said.splitlines(keepends=True)
    lines = {line["event"]: line for line in map(json.loads, said.splitlines())}
    assert lines["no JSON"]["child"] == "web"
    assert lines["stopping"]["grace_seconds"] == 20.0
    assert {"level", "logger", "timestamp"} <= lines["stopping"].keys()


def test_a_child_that_does_not_stop_is_killed_after_the_grace(tree: Helper, tmp_path: Path) -> None:
    up = tree({"web": STUBBORN, "worker": SLEEP}, grace=10)
    read_until(up, "all ready")
    up.send_signal(signal.SIGINT)
    said, _ = up.communicate(timeout=240)
    assert up.returncode == 1
    assert "killing children=['web']" in said
    assert gone(*noted(tmp_path, "web", "worker"))


def test_the_third_signal_kills_at_once(tree: Helper, tmp_path: Path, until: Until) -> None:
    up = tree({"web": STUBBORN}, grace=600)
    read_until(up, "all ready")
    up.terminate()
    read_until(up, "stopping")
    # one signal may swallow an equal one that is still pending, so two of other kinds
    up.send_signal(signal.SIGINT)
    up.send_signal(signal.SIGHUP)
    assert up.wait(120) == 1
    until(lambda: gone(*noted(tmp_path, "web")))


@pytest.mark.proof
def test_a_killed_supervisor_leaves_no_process(tree: Helper, tmp_path: Path, until: Until) -> None:
    up = tree({"web": SLEEP, "worker": PARENT, "stubborn": STUBBORN}, grace=0.5)
    read_until(up, "all ready")
    pids = noted(tmp_path, "web", "worker", "stubborn", "grandFalse", "grandTrue")
    guard = [pid for pid in children_of(up.pid) if pid not in pids]
    assert len(guard) == 1
    up.kill()
    up.wait()
    until(lambda: gone(pids[0], pids[1]))  # the kernel's SIGTERM
    until(lambda: gone(*pids, *guard))  # the guard


@pytest.mark.proof
def test_a_killed_guard_is_replaced(tree: Helper, tmp_path: Path, until: Until) -> None:
    up = tree({"web": SLEEP})
    read_until(up, "all ready")
    (child,) = noted(tmp_path, "web")
    (guard,) = [pid for pid in children_of(up.pid) if pid != child]
    os.kill(guard, signal.SIGKILL)
    os.kill(child, signal.SIGKILL)
    until(lambda: noted(tmp_path, "web") not in ([child], [0]))
    up.kill()
    up.wait()
    until(lambda: gone(*noted(tmp_path, "web")))


@pytest.mark.proof
def test_the_server_of_a_tree_comes_back_while_it_runs_and_stops_with_it(
    filled: Path, helper: Helper, until: Until
) -> None:
    code = (
        "import sys; from pathlib import Path; from app import embedded; from app.supervisor import Child, run\n"
        "home = Path(sys.argv[1])\n"
        "def watch(): embedded.ensure(home, durable=False, patience=5)\n"
        "with embedded.hold(home, durable=False):\n"
        "    code = run([Child('web', ['sleep', '600'])], on_ready=lambda: print('all ready', flush=True), grace=60,"
        " watch=watch)\n"
        "raise SystemExit(code)\n"
    )
    up = helper(code, filled)
    read_until(up, "all ready")
    first = pid_of(filled)
    os.kill(first, signal.SIGKILL)
    until(lambda: running(filled) not in (None, first))
    second = pid_of(filled)
    up.terminate()
    assert up.wait(120) == 0
    assert gone(first, second)


def test_a_second_up_of_a_home_names_the_first(tmp_path: Path, helper: Helper) -> None:
    code = (
        "import sys; from pathlib import Path; from app.supervisor import alone\n"
        "with alone(Path(sys.argv[1]), 'http://127.0.0.1:8123'):\n    print('in'); sys.stdin.read()\n"
    )
    first = helper(code, tmp_path)
    first.stdout.readline()
    with pytest.raises(AlreadyRunning, match=f"as process {first.pid} at http://127.0.0.1:8123") as told:
        alone(tmp_path, "http://127.0.0.1:9").__enter__()
    assert told.value.extensions == {"pid": first.pid, "url": "http://127.0.0.1:8123"}
    first.kill()
    first.wait()
    with alone(tmp_path, "http://127.0.0.1:9"):
        pass


@pytest.mark.proof
def test_a_reader_that_stopped_reading_stops_nobody() -> None:
    reader, writer = os.pipe()
    output = Output(4, as_json=False, descriptor=writer)
    for _ in range(3):
        output.line("web", b"x" * 60_000)
    assert len(os.read(reader, 1 << 20)) > 4096
    os.close(reader)
    output.line("web", b"nobody is there")
    os.close(writer)


def test_lines_are_cut_where_they_end() -> None:
    lines = Lines()
    assert lines.feed(b"one\ntw") == [b"one"]
    assert lines.feed(b"o\n\n") == [b"two", b""]
    assert lines.feed(b"x" * 70_000) == [b"x" * 70_000]
    assert lines.feed(b"rest") == []
    assert (lines.close(), lines.close()) == ([b"rest"], [])


def children_of(pid: int) -> list[int]:
    return [int(child) for child in Path("/proc", str(pid), "task", str(pid), "children").read_text().split()]


def test_children_start_in_order_and_one_that_is_slow_to_serve_holds_up_those_after_it(
    tmp_path: Path, until: Callable[[Callable[[], object]], None]
) -> None:
    """The first child is ready once the test has looked for the second one and not found it."""
    script = (
        "import sys; from pathlib import Path; from app.supervisor import Child, run, tree\n"
        "folder, tree.HOLD_SECONDS = Path(sys.argv[1]), 600.0\n"
        "sleeper = [sys.executable, '-c', 'import pathlib, sys, time; pathlib.Path(sys.argv[1]).touch(); time.sleep(60)']\n"
        "first = Child('first', [*sleeper, str(folder / 'one')], ready=lambda: (folder / 'go').exists())\n"
        "second = Child('second', [*sleeper, str(folder / 'two')])\n"
        "sys.exit(run([first, second], on_ready=lambda: (folder / 'ready').touch(), grace=60))\n"
    )
    process = subprocess.Popen([sys.executable, "-c", script, str(tmp_path)], stdout=subprocess.DEVNULL)
    try:
        until((tmp_path / "one").exists)
        assert not (tmp_path / "two").exists()
        (tmp_path / "go").touch()
        until((tmp_path / "two").exists)
        until((tmp_path / "ready").exists)
    finally:
        process.send_signal(signal.SIGTERM)
        assert process.wait(120) == 0


def test_one_that_does_not_become_ready_is_named_late_and_the_first_one_has_to_be_ready(
    tmp_path: Path, helper: Helper
) -> None:
    code = (
        "import sys; from pathlib import Path; from app.supervisor import Child, run, tree\n"
        "tree.READY_SECONDS = tree.HOLD_SECONDS = 0.0\n"
        "asked, sleeper = [], ['sleep', '600']\n"
        "def web(): asked.append(1); return len(asked) > 3\n"
        "def said(): print('ready after', len(asked), flush=True)\n"
        "children = [Child('web', sleeper, ready=web), Child('worker', sleeper, ready=lambda: False), Child('beat', sleeper)]\n"
        "raise SystemExit(run(children, on_ready=said, grace=60))\n"
    )
    up = helper(code)
    assert read_until(up, "ready after 4").splitlines()[-2:] == [
        "fairlane | not_ready children=['worker']",
        "ready after 4",
    ]
    up.terminate()
    assert up.wait(120) == 0
