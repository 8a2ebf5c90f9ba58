"""What the processes of one web count together, with the real server."""

from __future__ import annotations

import errno
import os
import signal
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from durable_harness.waiting import wait_for
from prometheus_client import Counter, Histogram
from prometheus_client.mmap_dict import mmap_key
from prometheus_client.parser import text_string_to_metric_families
from service_harness.application import Web

from app import process_metrics
from app.server import metrics_folder
from app.store.core.unit_of_work import UnitOfWork
from tests.web.serving import ask, serving

#: Threads and those who may wait for one, in each of two processes.
PLACES = 2 * (32 + 256)
#: Of the statuses of one route and method, at most.
MOST_STATUSES = 16


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


def processes() -> set[int]:
    """The processes that serve."""
    [main] = (child for child in psutil.Process().children() if "app.server.config" in " ".join(child.cmdline()))
    return {child.pid for child in main.children() if _lives(child)}


def _lives(child: psutil.Process) -> bool:
    try:
        return child.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:  # reaped meanwhile
        return False


def test_processes_are_added_up_and_one_that_ends_leaves_what_it_counted_and_no_file(port: int, home: Path) -> None:
    wait_for(lambda: sample(port, "fairlane_lane_places", lane="request") == PLACES, "both processes to be counted")
    wait_for(lambda: sample(port, "fairlane_lane_taken", lane="healthz") == 0, "health checks to leave their lane")
    for _ in range(20):
        assert ask(port, "SPIN", "/")[0] == 405
    wait_for(lambda: sample(port, "fairlane_http_requests_total", method="other") == 20, "all requests")
    files = sorted(home.joinpath("metrics").glob("*/*.db"))
    for killed in processes():
        os.kill(killed, signal.SIGKILL)
        wait_for(lambda killed=killed: killed not in processes() and len(processes()) == 2, "another process")
        wait_for(lambda: sample(port, "fairlane_lane_places", lane="request") == PLACES, "it to be counted, alone")
        assert sample(port, "fairlane_http_requests_total", method="other") == 20
        assert sample(port, "fairlane_http_connections") <= 2
    assert sorted(home.joinpath("metrics").glob("*/*.db")) == files


def test_requests_and_refusals_are_counted_by_route_whichever_process_answers(port: int) -> None:
    job = {"repository": "acme/shop", "commit": "a" * 40}
    for number in range(12):
        assert ask(port, "POST", "/api/v1/analyses", job | {"commit": f"{number:x}" * 40})[0] == 202
    assert ask(port, "POST", "/api/v1/analyses", {"repository": 1})[0] == 422
    assert ask(port, "SPIN", "/api/v1/analyses")[0] == 405
    of_accepts = {"route": "/api/v1/analyses", "method": "POST"}

    def told() -> dict[str, float]:
        return {
            "accepts": sample(port, "fairlane_http_requests_total", status="202", **of_accepts),
            "refused": sample(port, "fairlane_http_requests_total", status="422", **of_accepts),
            "timed": sample(port, "fairlane_http_request_seconds_count", **of_accepts),
            "other": sample(port, "fairlane_http_requests_total", method="other"),
            "invalid": sample(port, "fairlane_http_refusals_total", reason="invalid-input"),
        }

    # a process counts a request once its answer is on its way
    wait_for(lambda: told() == {"accepts": 12, "refused": 1, "timed": 13, "other": 1, "invalid": 1}, "all requests")
    assert sample(port, "fairlane_http_requests_total", method="SPIN") == 0


def test_the_folder_goes_with_the_server_and_what_a_killed_one_left_goes_with_the_next(
    database_url: str, uow: UnitOfWork, home: Path
) -> None:
    del uow
    left = home / "metrics" / "left"
    left.mkdir(parents=True)
    with serving(database_url, home, fresh=True):
        [folder] = home.joinpath("metrics").iterdir()
        assert folder != left
    assert list(home.joinpath("metrics").iterdir()) == []


def test_webs_that_share_a_home_count_apart_and_one_that_starts_or_ends_leaves_the_others(
    port: int, database_url: str, home: Path
) -> None:
    with serving(database_url, home, fresh=True) as other:
        assert len(list(home.joinpath("metrics").iterdir())) == 2
        assert ask(other, "SPIN", "/")[0] == 405
        wait_for(lambda: sample(other, "fairlane_http_requests_total", method="other") == 1, "the request")
        assert sample(port, "fairlane_http_requests_total", method="other") == 0
    assert len(list(home.joinpath("metrics").iterdir())) == 1
    wait_for(lambda: sample(port, "fairlane_lane_places", lane="request") == PLACES, "both processes to be counted")


def full(*_: object) -> None:
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


def test_where_there_is_no_room_a_process_counts_by_itself_and_keeps_what_others_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = tmp_path / "counter_1.db"
    counted.write_bytes(b"what a process that has ended counted")
    monkeypatch.setenv(metrics_folder.VARIABLE, str(tmp_path))
    metrics_folder.allocate(1, full)
    assert metrics_folder.VARIABLE not in os.environ
    assert list(tmp_path.iterdir()) == [counted]


def test_without_room_for_all_processes_none_shares_what_it_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Or each scrape would have other counts, as it meets one that shares them or one that does not."""
    made: list[int] = []

    def room_for_five(descriptor: int, offset: int, length: int) -> None:
        del offset, length
        made.append(descriptor)
        if len(made) > 5:
            raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setenv(metrics_folder.VARIABLE, "")
    metrics_folder.share(tmp_path, 2, room_for_five)
    assert metrics_folder.VARIABLE not in os.environ
    assert [*(tmp_path / "metrics").iterdir()] == []
    assert "".join(capsys.readouterr()).count("metrics_not_shared") == 1


def test_in_a_home_that_takes_no_folder_each_process_counts_by_itself_and_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "home").write_text("")
    monkeypatch.setenv(metrics_folder.VARIABLE, "")
    metrics_folder.share(tmp_path / "home", 2)
    assert metrics_folder.VARIABLE not in os.environ
    assert "".join(capsys.readouterr()).count("metrics_not_shared") == 1


def test_a_process_takes_the_first_place_that_is_free() -> None:
    assert [metrics_folder.free_place(taken) for taken in ((), {0, 1}, {1, 2})] == [0, 2, 0]


def test_all_that_a_process_writes_is_reserved(port: int, home: Path) -> None:
    wait_for(lambda: sample(port, "fairlane_lane_places", lane="request") == PLACES, "both processes to be counted")
    files = list(home.joinpath("metrics").glob("*/*.db"))
    kinds = {file.name.rpartition("_")[0] for file in files}
    assert kinds == {*metrics_folder.COUNTS, *metrics_folder.GAUGES}
    assert all(file.stat().st_blocks * 512 >= metrics_folder.BYTES for file in files)


def test_all_series_of_requests_fit_into_what_is_reserved(web: Web) -> None:
    """A file that has to grow is not reserved, and a process that writes to it dies when the disk is full."""
    pairs = {(method, rule.rule) for rule in web.app.url_map.iter_rules() for method in rule.methods or ()}
    pairs |= {(method, "none") for method in (*process_metrics.METHODS, "other")}
    times = ["sum", *(f"{bound}" for bound in (*process_metrics.BOUNDS, "+Inf"))]
    seconds = sum(size(process_metrics.request_seconds, *pair, le) for pair in pairs for le in times)
    requests = sum(size(process_metrics.requests, *pair, "200") for pair in pairs) * MOST_STATUSES
    assert max(seconds, requests) < 0.9 * metrics_folder.BYTES, (seconds, requests)


def size(metric: Counter | Histogram, method: str, route: str, last: str) -> int:
    """Bytes of a series in its file: the length of its key, the key, the value and its time."""
    labels = ["method", "route", "status"], [method, route, last]
    return 4 + len(mmap_key(metric._name, f"{metric._name}_bucket", *labels, metric._documentation)) + 8 + 16
