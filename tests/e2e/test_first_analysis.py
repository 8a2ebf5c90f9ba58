"""From `fairlane up` to the first result, as the README tells it: no setting, no address, no restart."""

import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from durable_harness.environment import bare_environment
from durable_harness.waiting import wait_for

from tests.e2e.test_up import COMMAND, SMALL, Up, started
from tests.nodes import ROOT

pytestmark = pytest.mark.proof

Start = Callable[..., Up]
#: The last line: where it serves, how to sign in, and at the first start the token.
READY = r"^ready http://127\.0\.0\.1:\d+  sign in as \S+ \(works once\): http://\S+/sign-in\?token=\S+  API token .*: fl_\S+$"


@pytest.fixture
def start(tmp_path: Path, free_port: int) -> Iterator[Start]:
    kept = bare_environment()
    env = kept | SMALL | {"FAIRLANE_HOME": str(tmp_path / "home")}
    ends = []

    def begin(*arguments: str | Path) -> Up:
        running = started(
            [*COMMAND, "--port", str(free_port), *map(str, arguments)], tmp_path / "up.log", env, free_port
        )
        ends.append(running)
        running.wait_until_ready()
        return running

    yield begin
    for running in ends:
        running.end()


def fairlane(up: Up, *arguments: str) -> str:
    """A command in another shell, which knows the home and the token."""
    done = asked(up, *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout


def asked(up: Up, *arguments: str) -> subprocess.CompletedProcess[str]:
    token = re.search(r"fl_[\w-]+", up.said())
    assert token
    argv = [sys.executable, "-m", "app.cli", *arguments]
    return subprocess.run(argv, cwd=ROOT, env=up.env | {"FAIRLANE_TOKEN": token[0]}, capture_output=True, text=True)


def home_page(up: Up) -> str:
    """As the operator sees it, by the link that was printed."""
    link = re.search(r"http://\S+/sign-in\?token=\S+", up.said())
    assert link
    with httpx.Client(follow_redirects=True, timeout=30) as browser:
        page = browser.get(link[0])
        form = dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)"', page.text))
        return browser.post(f"http://127.0.0.1:{up.port}/sign-in", data=form).text


def test_the_sample_is_analysed_without_a_setting_and_another_repository_without_a_restart(
    start: Start, tmp_path: Path, repository: Callable[..., Path]
) -> None:
    up = start()
    assert "submit local:sample --wait\nready http://" in up.said()
    assert re.search(READY, up.said(), re.MULTILINE)
    for node in ("priority", "default", "scheduled", "maintenance", "beat"):
        wait_for(lambda node=node: asked(up, "alive", node).returncode == 0, f"{node} to be alive")
    assert fairlane(up, "url") == f"http://127.0.0.1:{up.port}\n"
    assert fairlane(up, "submit", "local:sample", "--wait").startswith("completed: 11 tests in 3 files\n")
    repository("shop").rename(tmp_path / "home" / "repositories" / "shop")
    page = home_page(up)
    assert "local:sample" in page
    assert "local:shop" in page
    assert f"<code>{tmp_path / 'home' / 'repositories'}</code>" in page
    assert fairlane(up, "submit", "local:shop", "--wait").startswith("completed: 1 test in 1 file\n")


def test_the_folder_given_is_served_and_a_repository_stands_for_the_folder_it_lies_in(
    start: Start, repository: Callable[..., Path]
) -> None:
    up = start(repository("shop"))
    repository("store")
    assert "submit local:shop --wait\nready http://" in up.said()
    assert fairlane(up, "submit", "local:shop", "--wait").startswith("completed: 1 test in 1 file\n")
    assert fairlane(up, "submit", "local:store", "--wait").startswith("completed: 1 test in 1 file\n")
    assert not Path(up.env["FAIRLANE_HOME"], "repositories").exists()
