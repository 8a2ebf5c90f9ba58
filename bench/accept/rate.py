"""Accepts a second through gunicorn, next to an endpoint of the same application that needs no database."""

import contextlib
import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from statistics import median

from app.domain.plans import Tier
from app.domain.summaries import percentile
from bench.accept.database import database, token, user
from bench.service import ROOT

SECRET = "bench " * 8
CLIENTS, PROCESSES, WARM_SECONDS = 16, 2, 3.0
ACCEPT, BARE = "/api/v1/analyses", "/bench/parse"


def measure(rounds: int, seconds: float) -> dict[str, float]:
    """Rates by turns; ratios to the endpoint without a database."""
    rates: dict[str, list[float]] = {"no database": [], "16 users": [], "one hot user": []}
    p99: dict[str, list[float]] = {name: [] for name in rates}
    with database() as (url, uow), serving(url) as port:
        many = [token(uow, user(uow, f"client{number}", Tier.PRO_PLUS)) for number in range(CLIENTS)]
        hot = [token(uow, user(uow, "hot"))] * CLIENTS
        turns = {"no database": (BARE, many), "16 users": (ACCEPT, many), "one hot user": (ACCEPT, hot)}
        for path, tokens in turns.values():
            _load(port, path, tokens, WARM_SECONDS)
        for _ in range(rounds):
            for name, (path, tokens) in turns.items():
                times = _load(port, path, tokens, seconds)
                rates[name].append(len(times) / seconds)
                p99[name].append(percentile(times, 0.99))
                print(f"  {name}: {rates[name][-1]:.0f}/s, p99 {p99[name][-1]:.0f} ms", flush=True)
    found = {name: median(values) for name, values in rates.items()}
    return {
        **{f"{name}, accepts/s": rate for name, rate in found.items()},
        **{f"{name}, p99 ms": median(values) for name, values in p99.items()},
        **{f"{name} / no database": found[name] / found["no database"] for name in ("16 users", "one hot user")},
    }


def _load(port: int, path: str, tokens: Sequence[str], seconds: float) -> list[float]:
    share = len(tokens) // PROCESSES
    clients = [
        subprocess.Popen(
            [sys.executable, "-m", "bench.accept.client", str(port), path, str(seconds), *tokens[i : i + share]],
            cwd=ROOT, stdout=subprocess.PIPE, text=True,
        )
        for i in range(0, len(tokens), share)
    ]  # fmt: skip
    times = []
    for client in clients:
        said, _ = client.communicate(timeout=seconds + 120)
        if client.returncode != 0:
            raise SystemExit("a client was refused: its words are above")
        times.extend(json.loads(said))
    return times


@contextlib.contextmanager
def serving(url: str) -> Iterator[int]:
    """Gunicorn as `fairlane up` starts it, on a port of its own."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = int(probe.getsockname()[1])
    environment = os.environ | {
        "DATABASE_URL": url, "RATE_LIMIT_PER_MINUTE": "10000000", "SECRET_KEY": SECRET, "LOG_LEVEL": "warning",
    }  # fmt: skip
    argv = [
        sys.executable, "-m", "gunicorn", "-c", "python:app.server.config", "--workers", "1",
        "--log-level", "warning", "-b", f"127.0.0.1:{port}", "bench.accept.wsgi:app",
    ]  # fmt: skip
    server = subprocess.Popen(argv, cwd=ROOT, env=environment)
    try:
        _until_ready(port)
        yield port
    finally:
        server.send_signal(signal.SIGTERM)
        server.wait(30)


def _until_ready(port: int) -> None:
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError), urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=2):
            return
        time.sleep(0.05)  # between two looks at a server that starts
    raise SystemExit("the web did not start")
