"""The real server while many clients read large results at once.

`make prove-reads` runs it with results of 500,000 tests and more clients.
"""

from __future__ import annotations

import http.client
import os
import re
import time
from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from threading import Event

import psutil
import pytest
from service_harness.application import Web
from service_harness.inventories import a_test, file

from app.store.analyses.inventories import FileRow
from tests.web.test_platform import ask, gunicorn

pytestmark = pytest.mark.proof

TESTS, CLIENTS = int(os.environ.get("READS_TESTS", "8000")), int(os.environ.get("READS_CLIENTS", "24"))
SECONDS = float(os.environ.get("READS_SECONDS", "3"))
OF_FILE = 100
MOST_MB = 60  # of a comparison: 50, and what the server itself takes meanwhile

__all__ = ["gunicorn"]


def files(side: str) -> list[FileRow]:
    return [
        file(f"{side}/test_{n}.py", *(a_test(f"test_{side}_{n}_{i}_does_it", line=i + 1) for i in range(OF_FILE)))
        for n in range(TESTS // OF_FILE)
    ]


def done(web: Web, side: str) -> str:
    job_id: str = web.submit("shop", ref=side).json["id"]
    web.completed(job_id, files(side))
    return job_id


def workers(port: int) -> list[psutil.Process]:
    """Gunicorn's own children; what these start themselves has another command line."""
    found = [one for one in psutil.process_iter(["cmdline"]) if f"127.0.0.1:{port}" in (one.info["cmdline"] or ())]
    return [process for process in found if process.ppid() in {one.pid for one in found}]


def most_mb(processes: list[psutil.Process]) -> float:
    """The most memory one of them ever had."""
    status = [Path(f"/proc/{process.pid}/status").read_text() for process in processes]
    return max(int(match[1]) for text in status if (match := re.search(r"VmHWM:\s+(\d+)", text))) / 1024


def flood(
    port: int, callers: list[dict[str, str]], paths: Callable[[int, int], str], stop: Event
) -> Iterator[Counter[int]]:
    """Statuses of what many clients asked for, each with an account of its own."""

    def client(number: int) -> Counter[int]:
        seen: Counter[int] = Counter()
        turn = 0
        while not stop.is_set():
            seen[_status(port, paths(number, turn), callers[number])] += 1
            turn += 1
        return seen

    with ThreadPoolExecutor(CLIENTS) as threads:
        yield from threads.map(client, range(CLIENTS))


def _status(port: int, path: str, headers: dict[str, str]) -> int:
    """A large read may take its time."""
    with closing(http.client.HTTPConnection("127.0.0.1", port, timeout=600)) as connection:
        connection.request("GET", path, headers=headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status


def watched(
    port: int, callers: list[dict[str, str]], paths: Callable[[int, int], str]
) -> tuple[dict[str, list[float]], Counter[int]]:
    """How long health took during a flood, in seconds; and what became of the flood."""
    stop, took = Event(), {path: [0.0] for path in ("/healthz", "/readyz")}
    with ThreadPoolExecutor(1) as threads:
        flooding = threads.submit(lambda: sum(flood(port, callers, paths, stop), Counter[int]()))
        until = time.monotonic() + SECONDS
        try:
            while time.monotonic() < until:
                for path, times in took.items():
                    began = time.monotonic()
                    assert ask(port, "GET", path)[0] == 200
                    times.append(time.monotonic() - began)
        finally:
            stop.set()
        return took, flooding.result()


def test_health_answers_while_many_read_large_results(web: Web, gunicorn: int) -> None:
    one, other = done(web, "one"), done(web, "two")
    processes = workers(gunicorn)
    for process in processes:  # both have all of their code
        assert ask(gunicorn, "GET", f"/api/v1/analyses/{one}/tests?limit=1")[0] == 200, process
    before = most_mb(processes)

    def paths(number: int, turn: int) -> str:
        match number % 3:
            case 0:
                return f"/api/v1/analyses/{one}/compare/{other}"
            case 1:
                return f"/api/v1/analyses/{one}/tests?q=nothing-{number}-{turn}"
            case _:
                return f"/analyses/{one}?page={TESTS}&q=does-{number}-{turn}"

    callers = [web.token() for _ in range(CLIENTS)]
    took, statuses = watched(gunicorn, callers, paths)
    grown = most_mb(processes) - before
    slowest = {path: round(1000 * max(times)) for path, times in took.items()}
    print(f"{TESTS} tests, {CLIENTS} clients: {dict(statuses)}; slowest, ms: {slowest}; memory: +{grown:.0f} MB")
    assert set(statuses) <= {200, 429, 503}, statuses
    assert statuses[200]
    assert grown <= 2 * MOST_MB, f"{grown:.0f} MB"  # two large reads at once
