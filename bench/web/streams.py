"""`python -m bench.web.streams [--streams N] [--seconds S] [--rounds R]`: the API while live streams are open.

One gunicorn process.  4 clients read a job by turns with no stream open and with N, of accounts that have 8 each.  The
last line is JSON: medians of p50 and p99 in ms and requests/s, and their ratios.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager

from service_harness.application import POLICY, SETTINGS, Web, resolve

from app.domain.summaries import percentile
from app.web import create_app
from app.web.core.wiring import WebWiring
from app.web.jobs.job_streams import MOST_STREAMS_EACH
from bench.accept.database import database
from bench.accept.rate import SECRET, serving
from bench.web.__main__ import load, medians

CLIENTS = 4
JOBS = 25
PATIENCE = 60.0  # seconds


def main() -> None:
    """Measure by turns."""
    parser = argparse.ArgumentParser(prog="python -m bench.web.streams", description=__doc__)
    parser.add_argument("--streams", type=int, default=200)
    parser.add_argument("--seconds", type=float, default=8.0)
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    os.environ["READ_LIMIT_PER_MINUTE"] = "1000000000"
    with database() as (url, uow):
        web = Web(create_app(WebWiring(SETTINGS, uow, POLICY, resolve, SECRET)), uow)
        jobs = [web.submit(f"shop-{number}", web.token()).json["id"] for number in range(JOBS)]
        found: dict[int, list[dict[str, float]]] = {0: [], given.streams: []}
        with serving(url) as port:
            load(port, _paths(jobs), 2.0, CLIENTS)
            for turn in range(given.rounds):
                for count in sorted(found, reverse=bool(turn % 2)):
                    # the server notices only after some seconds that the streams of the turn before have gone
                    owners = [web.token() for _ in range(-(-count // MOST_STREAMS_EACH))]
                    with _open(port, count, jobs, owners):
                        found[count].append(_read(port, jobs, given.seconds))
                        print(count, "streams", found[count][-1], flush=True)
    figures = {count: medians(told) for count, told in found.items()}
    ratios = {what: round(figures[given.streams][what] / figure, 2) for what, figure in figures[0].items()}
    print(json.dumps({"none": figures[0], str(given.streams): figures[given.streams], "ratios": ratios}))


def _read(port: int, jobs: list[str], seconds: float) -> dict[str, float]:
    requests = load(port, _paths(jobs), seconds, CLIENTS)
    if any(status != 200 for _, _, status in requests):
        raise SystemExit("a request was refused")
    times = [took for took, _, _ in requests]
    return {"requests/s": len(times) / seconds, "p50 ms": percentile(times, 0.5), "p99 ms": percentile(times, 0.99)}


def _paths(jobs: list[str]) -> list[str]:
    return [f"/api/v1/analyses/{one}" for one in jobs]


@contextmanager
def _open(port: int, count: int, jobs: list[str], owners: list[dict[str, str]]) -> Iterator[None]:
    """Streams that have sent their first event.  They last longer than a turn."""
    with ExitStack() as opened:
        for number in range(count):
            path = f"/api/v1/analyses/{jobs[number % len(jobs)]}/events"
            _begin(opened, port, path, owners[number // MOST_STREAMS_EACH])
        yield


def _begin(opened: ExitStack, port: int, path: str, owner: dict[str, str]) -> None:
    """One stream.  The server notices within seconds that those of the turn before have gone, and then has places."""
    deadline = time.monotonic() + PATIENCE
    while True:
        connection = opened.enter_context(closing(http.client.HTTPConnection("127.0.0.1", port, timeout=60)))
        connection.request("GET", path, headers=owner)
        answer = opened.enter_context(closing(connection.getresponse()))
        if answer.status == 200 and answer.readline():
            return
        if answer.status != 503 or time.monotonic() > deadline:
            raise SystemExit(f"a stream: {answer.status} {answer.read(300)!r}")
        time.sleep(0.2)  # between two attempts


if __name__ == "__main__":
    main()
