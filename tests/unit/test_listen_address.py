"""Where the service is served, and where commands look for it."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from app.cli.listen_address import ListenAddress, service_url
from app.cli.submit import submit, url
from app.settings import load
from app.supervisor import alone

RUNNING = "http://127.0.0.1:9123"


@pytest.mark.parametrize(
    ("host", "served", "near"),
    [
        ("127.0.0.1", "http://127.0.0.1:9123", "http://127.0.0.1:9123"),
        ("0.0.0.0", "http://0.0.0.0:9123", "http://127.0.0.1:9123"),
        ("::", "http://[::]:9123", "http://[::1]:9123"),
        ("::1", "http://[::1]:9123", "http://[::1]:9123"),
        ("ci.example.org", "http://ci.example.org:9123", "http://ci.example.org:9123"),
    ],
)
def test_a_place_has_an_address_and_one_for_this_machine(host: str, served: str, near: str) -> None:
    assert (ListenAddress(host, 9123).url, ListenAddress(host, 9123).near_url) == (served, near)


def test_fairlane_url_comes_before_what_runs_for_the_home_and_that_before_the_default(tmp_path: Path) -> None:
    home = {"FAIRLANE_HOME": str(tmp_path)}
    assert service_url(load(home)) == "http://127.0.0.1:8000"
    with alone(tmp_path, RUNNING):
        assert service_url(load(home)) == RUNNING
        assert service_url(load(home | {"FAIRLANE_URL": "http://127.0.0.1:8000"})) == "http://127.0.0.1:8000"
        assert CliRunner().invoke(url, env=home).stdout == f"{RUNNING}\n"
    assert service_url(load(home)) == "http://127.0.0.1:8000"


def test_the_place_of_a_service_that_was_killed_is_forgotten(tmp_path: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    (tmp_path / "up.lock").write_text(json.dumps({"pid": ended.pid, "url": RUNNING}))
    assert service_url(load({"FAIRLANE_HOME": str(tmp_path)})) == "http://127.0.0.1:8000"


def test_submit_asks_the_service_that_runs_for_the_home(tmp_path: Path) -> None:
    with alone(tmp_path, "http://127.0.0.1:1"):
        kept = {"FAIRLANE_HOME": str(tmp_path), "FAIRLANE_URL": None, "PATH": os.environ["PATH"]}
        done = CliRunner().invoke(submit, ["local:sample"], env=kept)
    assert done.exit_code == 4
    assert "http://127.0.0.1:1 does not answer" in done.stderr
