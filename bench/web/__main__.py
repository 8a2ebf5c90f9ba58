"""`python -m bench.web [--tests N] [--seconds S] [--rounds R]`: pages read by 16 clients, with N tests stored.

Gunicorn runs as `fairlane up` starts it, with one process.  Prints for each kind of page requests a second, p50, p99
and the largest answer in kilobytes, compressed: medians of the rounds, which take turns.  The last line is JSON.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
from collections import Counter
from statistics import median

from service_harness.application import POLICY, SETTINGS, Web, resolve
from service_harness.inventories import a_test, file

from app.domain.summaries import percentile
from app.store.analyses.inventories import FileRow
from app.web import create_app
from app.web.core.wiring import WebWiring
from bench.accept.database import database
from bench.accept.rate import SECRET, serving
from bench.endings import end_in_order
from bench.service import ROOT

CLIENTS, WARM_SECONDS = 16, 3.0
OF_FILE, OF_ANALYSIS = 20, 20_000
REPOSITORIES = 10


def main() -> None:
    """Store the results, then read each kind of page in turns."""
    parser = argparse.ArgumentParser(prog="python -m bench.web", description=__doc__)
    parser.add_argument("--tests", type=int, default=1_000_000)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--rounds", type=int, default=3)
    given = parser.parse_args()
    end_in_order()
    os.environ["READ_LIMIT_PER_MINUTE"] = "1000000000"
    with database() as (url, uow):
        web = Web(create_app(WebWiring(SETTINGS, uow, POLICY, resolve, SECRET)), uow)
        web.sign_in(web.user())
        analyses = [_stored(web, number) for number in range(max(1, given.tests // OF_ANALYSIS))]
        print(f"{len(analyses) * OF_ANALYSIS:,} tests are stored", flush=True)
        with serving(url) as port:
            print(json.dumps(_measure(port, _kinds(analyses), given.seconds, given.rounds)))


def _stored(web: Web, number: int) -> str:
    repository = number % REPOSITORIES
    job_id: str = web.submit(f"shop-{repository}", web.token(), ref=f"commit-{number}").json["id"]
    web.completed(job_id, list(_files(number)))
    return job_id


def _files(number: int) -> list[FileRow]:
    return [
        file(
            f"tests/part_{part % 40}/test_{part}.py",
            *(a_test(f"test_{number}_{part}_{n}_does_what_it_says", line=n * 5 + 1) for n in range(OF_FILE)),
        )
        for part in range(OF_ANALYSIS // OF_FILE)
    ]


def _kinds(analyses: list[str]) -> dict[str, list[str]]:
    words = ("says", "part_7", "test_9", "does", "nothing-like-it")
    return {
        "job": [f"/api/v1/analyses/{one}" for one in analyses],
        "result": [f"/analyses/{one}" for one in analyses],
        "repository": [f"/repositories/github.com/acme/shop-{number}" for number in range(REPOSITORIES)],
        "explore": ["/explore", "/explore?q=shop-3"],
        "test listing": [f"/api/v1/analyses/{one}/tests?limit=100" for one in analyses],
        "search": [f"/analyses/{one}?q={word}" for one in analyses for word in words],
    }


def _measure(port: int, kinds: dict[str, list[str]], seconds: float, rounds: int) -> dict[str, dict[str, float]]:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in kinds}
    for paths in kinds.values():
        load(port, paths, WARM_SECONDS)
    for turn in range(rounds):
        for name in list(kinds)[:: -1 if turn % 2 else 1]:
            found[name].append(_told(load(port, kinds[name], seconds), seconds))
    figures = {name: medians(told) for name, told in found.items()}
    for name, told in figures.items():
        print(name, told, flush=True)
    return figures


def medians(told: list[dict[str, float]]) -> dict[str, float]:
    """Of each figure of several rounds."""
    return {what: round(median(one[what] for one in told), 1) for what in told[0]}


def _told(requests: list[tuple[float, int, int]], seconds: float) -> dict[str, float]:
    times = [took for took, _, _ in requests]
    statuses = Counter(status for _, _, status in requests)
    return {
        "requests/s": len(requests) / seconds,
        "p50 ms": percentile(times, 0.5),
        "p99 ms": percentile(times, 0.99),
        "largest kB": max(size for _, size, _ in requests) / 1000,
        "not answered, %": 100 * (1 - statuses[200] / len(requests)),
    }


def load(port: int, paths: list[str], seconds: float, clients: int = CLIENTS) -> list[tuple[float, int, int]]:
    """Milliseconds, bytes and status of each request."""
    argv = [sys.executable, "-m", "bench.web.client", str(port), str(seconds), str(clients)]
    done = subprocess.run(argv, input="\n".join(paths), cwd=ROOT, check=True, capture_output=True, text=True)
    return [(took, size, status) for took, size, status in json.loads(done.stdout)]


if __name__ == "__main__":
    main()
