"""What the processes of one web count together, with the real server."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import pytest
from durable_harness.waiting import wait_for
from prometheus_client.parser import text_string_to_metric_families

from app.server import metrics_folder
from app.store.core.unit_of_work import UnitOfWork
from tests.web.serving import ask, serving

#: Threads and those who may wait for one, in each of two processes.
PLACES = 2 * (32 + 256)


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path


@pytest.fixture
def port(database_url: str, uow: UnitOfWork, home: Path) -> Iterator[int]:
    del uow
    with serving(database_url, home, "--workers", "2", fresh=True) as port:
        yield port


def sample(port: int, name: str, **labels: str) -> float:
    """The sum of the samples of a name with these labels."""
    status, text = ask(port, "GET", "/metrics?of=process")
    assert status == 200
    families = text_string_to_metric_families(text)
    return sum(
        one.value
        for family in families
        for one in family.samples
        if one.name == name and labels.items() <= one.labels.items()
    )


def processes(home: Path) -> set[int]:
    """The processes that have counted."""
    files = home.joinpath("metrics").glob("*/gauge_livesum_*.db")
    return {int(file.stem.rpartition("_")[2]) for file in files}


def test_processes_are_added_up_and_a_killed_one_uses_nothing_any_more(port: int, home: Path) -> None:
    wait_for(lambda: sample(port, "fairlane_lane_places", lane="request") == PLACES, "both processes to be counted")
    assert sample(port, "fairlane_lane_taken", lane="health") == 0
    killed = max(processes(home))
    os.kill(killed, signal.SIGKILL)
    wait_for(lambda: killed not in processes(home), "the main process to notice")
    wait_for(lambda: sample(port, "fairlane_lane_places", lane="request") == PLACES, "another process to serve")


def test_requests_and_refusals_are_counted_by_route_whichever_process_answers(port: int) -> None:
    job = {"repository": "acme/shop", "commit": "a" * 40}
    for number in range(12):
        assert ask(port, "POST", "/api/v1/analyses", job | {"commit": f"{number:x}" * 40})[0] == 202
    assert ask(port, "POST", "/api/v1/analyses", {"repository": 1})[0] == 422
    assert ask(port, "SPIN", "/api/v1/analyses")[0] == 405
    of_accepts = {"route": "/api/v1/analyses", "method": "POST"}
    wait_for(lambda: sample(port, "fairlane_http_requests_total", status="202", **of_accepts) == 12, "all accepts")
    assert sample(port, "fairlane_http_requests_total", status="422", **of_accepts) == 1
    assert sample(port, "fairlane_http_request_seconds_count", **of_accepts) == 13
    assert sample(port, "fairlane_http_requests_total", method="other") == 1
    assert sample(port, "fairlane_http_requests_total", method="SPIN") == 0
    assert sample(port, "fairlane_http_refusals_total", reason="invalid-input") == 1


def test_the_folder_goes_with_the_server_and_what_a_killed_one_left_goes_with_the_next(
    database_url: str, uow: UnitOfWork, home: Path
) -> None:
    del uow
    left = home / "metrics" / "999999999"
    left.mkdir(parents=True)
    with serving(database_url, home, fresh=True):
        [folder] = home.joinpath("metrics").iterdir()
        assert folder != left
    assert list(home.joinpath("metrics").iterdir()) == []


def test_where_there_is_no_room_a_process_counts_by_itself(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setenv(metrics_folder.VARIABLE, str(tmp_path))
    metrics_folder.allocate(full)
    assert metrics_folder.VARIABLE not in os.environ
    assert list(tmp_path.iterdir()) == []


def test_all_that_a_process_writes_is_reserved(port: int, home: Path) -> None:
    wait_for(lambda: sample(port, "fairlane_lane_places", lane="request") == PLACES, "both processes to be counted")
    files = list(home.joinpath("metrics").glob("*/*.db"))
    kinds = {file.name.rpartition("_")[0] for file in files}
    assert kinds == {*metrics_folder.KINDS}
    assert all(file.stat().st_blocks * 512 >= metrics_folder.BYTES for file in files)
