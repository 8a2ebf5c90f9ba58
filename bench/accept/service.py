"""The running service over HTTP: how fast it accepts, and how soon an accepted job starts on idle workers."""

import http.client
import json
import random
import tempfile
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path

from app.domain.summaries import percentile
from bench.service import Service, make_repository, running

ACCEPTS, CLIENTS, STARTS = 400, 16, 100


def measure() -> dict[str, float]:
    """p50 and p99 in milliseconds of accepts and starts, and accepts per second."""
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-") as folder:
        Path(folder).chmod(0o755)
        commits = make_repository(Path(folder) / "bench", 2 * ACCEPTS + STARTS + 20)
        with running(Path(folder)) as service:
            users = [_user(service, number) for number in range(CLIENTS)]
            for commit in commits[:20]:  # connections, caches, the first forks
                _post(users[0], _connect(service), commit)
            _until_idle(service)
            starts = _starts(service, users[0], commits[20 : 20 + STARTS])
            service.fairlane("pause", "analysis_priority")
            one, one_rate = _accepts(service, users[:1], commits[20 + STARTS : 20 + STARTS + ACCEPTS])
            many, many_rate = _accepts(service, users, commits[20 + STARTS + ACCEPTS :])
    times = {"accept, 1 client": one, f"accept, {CLIENTS} clients": many, "idle submit to start": starts}
    figures = {
        f"{name}, p{share}": percentile(found, share / 100) for name, found in times.items() for share in (50, 99)
    }
    return figures | {"accepts/s, 1 client": one_rate, f"accepts/s, {CLIENTS} clients": many_rate}


def _user(service: Service, number: int) -> str:
    """An unlimited user of its own for each client: one user's accepts wait for each other by design."""
    email = f"client{number}@example.org"
    service.fairlane("user", "add", email, "--tier", "enterprise")
    token: str = json.loads(service.fairlane("token", "add", email, "--json"))["token"]
    return token


def _accepts(service: Service, users: Sequence[str], commits: Sequence[str]) -> tuple[list[float], float]:
    """Milliseconds of each accept, and accepts per second; the queue is paused, so no work competes."""

    def work(share: tuple[str, Sequence[str]]) -> list[float]:
        connection = _connect(service)
        return [_post(share[0], connection, commit)[0] for commit in share[1]]

    began = time.monotonic()
    with ThreadPoolExecutor(len(users)) as threads:
        shares = [(user, commits[i :: len(users)]) for i, user in enumerate(users)]
        times = [ms for done in threads.map(work, shares) for ms in done]
    return times, len(commits) / (time.monotonic() - began)


def _starts(service: Service, user: str, commits: Sequence[str]) -> list[float]:
    """Milliseconds from before the POST until the worker's start commit, one job at a time at random gaps."""
    connection, dice, times = _connect(service), random.Random(1), []
    for commit in commits:
        time.sleep(dice.uniform(0.05, 0.2))
        before = time.time()
        _, job = _post(user, connection, commit)
        started = _started(user, connection, str(job["links"]["timeline"]))  # type: ignore[index]
        times.append((started - before) * 1000)
    return times


def _started(user: str, connection: http.client.HTTPConnection, path: str) -> float:
    while True:
        _, timeline = _ask(user, connection, "GET", path)
        events = {row["event"]: row["at"] for row in timeline["items"]}  # type: ignore[attr-defined]  # JSON
        if "completed" in events:
            return datetime.fromisoformat(events["started"]).timestamp()
        time.sleep(0.02)


def _until_idle(service: Service) -> None:
    while any(row["ready"] or row["leased"] for row in json.loads(service.fairlane("queues", "--json"))):
        time.sleep(0.1)


def _connect(service: Service) -> http.client.HTTPConnection:
    return http.client.HTTPConnection("127.0.0.1", service.port, timeout=60)


def _post(user: str, connection: http.client.HTTPConnection, commit: str) -> tuple[float, dict[str, object]]:
    began = time.monotonic()
    status, job = _ask(user, connection, "POST", "/api/v1/analyses", {"repository": "local:bench", "commit": commit})
    if status != 202:
        raise SystemExit(f"not accepted: {status} {job}")
    return (time.monotonic() - began) * 1000, job


def _ask(
    user: str, connection: http.client.HTTPConnection, method: str, path: str, body: object = None
) -> tuple[int, dict[str, object]]:
    headers = {"Authorization": f"Bearer {user}", "Content-Type": "application/json"}
    connection.request(method, path, json.dumps(body) if body else None, headers)
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())
