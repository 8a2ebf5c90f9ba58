"""Pages of a large document through the real web server: `python -m bench.specview.pages [--tests 28000]`.

Prints for each read milliseconds to the first byte and to the last, kilobytes, and the server's processor time; how
long the user's row is locked by an accept; and the peak of the server's memory.  The last line is JSON.
"""

from __future__ import annotations

import argparse
import http.client
import json
import os
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import psutil
from service_harness.application import POLICY, SETTINGS, Web, resolve
from service_harness.inventories import a_test, file
from service_harness.model_runs import subjects
from sqlalchemy import create_engine, text

from app.domain.plans import Tier
from app.services.accounts.accounts import Account
from app.specview.builtin import built_in
from app.store.analyses.inventories import FileRow
from app.web import create_app
from app.web.core.wiring import WebWiring
from bench.accept.database import database
from bench.accept.rate import SECRET, serving

ROUNDS = 3
_FREE = text("SELECT 1 FROM users WHERE id = :id FOR UPDATE SKIP LOCKED")


def main() -> None:
    """Set up two commits with documents, then read them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tests", type=int, default=28_000)
    count = parser.parse_args().tests
    os.environ["READ_LIMIT_PER_MINUTE"] = "1000000000"
    with database() as (url, uow):
        web = Web(create_app(WebWiring(SETTINGS, uow, POLICY, resolve, SECRET)), uow)
        account = web.user(Tier.ENTERPRISE)
        token = web.token(account.user_id)
        print(f"{count} tests; the documents are made", flush=True)
        (analysis, old), (_, new) = (_made(web, token, commit * 40, _files(count, commit)) for commit in "ab")
        small, _ = _made(web, token, "c" * 40, _files(1_000, "c"), is_written=False)
        with serving(url) as port:
            server = _Server(port, {**token, "Cookie": _cookie(web, account)})
            server.get(f"/specs/{old}?page=2")  # imports and templates
            memory = {"before": server.peak()}
            figures = _read(server, _paths(old, new, small, analysis), analysis)
            figures |= _accepted(server, url, account.user_id, {"accept": analysis, "accept of 1,000 tests": small})
            figures["memory MB"] = memory | {"after": server.peak()}
    print(json.dumps(figures))


def _read(server: _Server, paths: Mapping[str, str], analysis: str) -> dict[str, Any]:
    figures = {}
    for name, path in paths.items():
        figures[name] = server.told(path)
        print(f"{name}: {figures[name]}", flush=True)
    for name, mode in (("dry run", "regenerate_cached"), ("dry run, all anew", "regenerate_fresh")):
        figures[name] = server.told("/api/v1/specs", {"analysis_id": analysis, "mode": mode, "dry_run": True})
        print(f"{name}: {figures[name]}", flush=True)
    return figures


def _accepted(server: _Server, url: str, user_id: UUID, analyses: Mapping[str, str]) -> dict[str, Any]:
    figures = {}
    for name, analysis in analyses.items():
        for language in ("en", "ko"):
            body = {"analysis_id": analysis, "mode": "regenerate_cached", "language": language}
            with _watched(url, user_id) as locked:
                found = server.told("/api/v1/specs", body, rounds=1)
            figures[f"{name}, {language}"] = found | {"user locked ms": round(1000 * sum(locked))}
            print(f"{name}, {language}: {figures[f'{name}, {language}']}", flush=True)
    return figures


class _Server:
    def __init__(self, port: int, headers: Mapping[str, str]) -> None:
        self.connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        self.headers = {**headers, "Content-Type": "application/json"}
        mine = f"127.0.0.1:{port}"
        found = [one for one in psutil.process_iter(["cmdline"]) if mine in (one.info["cmdline"] or ())]
        [self.worker] = [one for one in found if one.ppid() in {other.pid for other in found}]

    def get(self, path: str, body: object = None) -> tuple[float, float, int]:
        """Milliseconds to the first byte and to the last, and bytes."""
        headers = {name: value for name, value in self.headers.items() if name != "Cookie" or body is None}
        began = time.monotonic()
        self.connection.request("POST" if body else "GET", path, json.dumps(body) if body else None, headers)
        answer = self.connection.getresponse()
        answer.read(1)
        first = time.monotonic()
        rest = answer.read()
        if answer.status not in (200, 202):
            raise SystemExit(f"{path}: {answer.status} {rest[:500]!r}")
        return 1000 * (first - began), 1000 * (time.monotonic() - began), 1 + len(rest)

    def told(self, path: str, body: object = None, *, rounds: int = ROUNDS) -> dict[str, Any]:
        """The first request, and the best of some more."""
        first, *more = [self._timed(path, body) for _ in range(rounds)]
        return first | {f"again {name}": min(one[name] for one in more) for name in ("last ms", "cpu ms") if more}

    def peak(self) -> float:
        """Megabytes the process ever had."""
        status = Path(f"/proc/{self.worker.pid}/status").read_text(encoding="ascii").splitlines()
        return round(next(int(line.split()[1]) / 1024 for line in status if line.startswith("VmHWM")), 1)

    def _timed(self, path: str, body: object) -> dict[str, Any]:
        before = sum(self.worker.cpu_times()[:2])
        first, last, size = self.get(path, body)
        spent = sum(self.worker.cpu_times()[:2]) - before
        return {
            "first ms": round(first),
            "last ms": round(last),
            "KB": round(size / 1000),
            "cpu ms": round(1000 * spent),
        }


def _paths(old: str, new: str, small: str, analysis: str) -> dict[str, str]:
    return {
        "page": f"/specs/{old}",
        "page 9": f"/specs/{old}?page=9",
        "a search": f"/specs/{old}?q=returns",
        "history": f"/specs/{new}/history",
        "comparison": f"/specs/{old}/compare/{new}",
        "as JSON": f"/api/v1/specs/{old}",
        "as Markdown": f"/api/v1/specs/{old}.md",
        "result of 1,000 tests": f"/analyses/{small}",
        "what it would cost": f"/analyses/{analysis}/specify",
    }


def _made(
    web: Web, token: dict[str, str], commit: str, files: list[FileRow], *, is_written: bool = True
) -> tuple[str, str]:
    analysis = web.submit(headers=token, commit=commit).json["id"]
    web.completed(analysis, files)
    if not is_written:
        return analysis, ""
    job = web.client.post("/api/v1/specs", json={"analysis_id": analysis}, headers=token).json["id"]
    web.written(job, built_in())
    return analysis, job


def _files(count: int, commit: str) -> list[FileRow]:
    """Each commit has some tests of its own."""
    found: dict[str, list[dict[str, Any]]] = {}
    for number, one in enumerate(subjects(count)):
        name = f"{one.name}_{commit}" if number % 100 == 0 else one.name
        found.setdefault(one.file, []).append(a_test(name, line=one.line))
    made = [file(path, *tests) for path, tests in found.items()]
    return [FileRow(one.path, f"{commit}{one.blob_id}"[:40], one.framework, one.tests, None) for one in made]


def _cookie(web: Web, account: Account) -> str:
    """Of somebody who has signed in; both applications sign with the same key."""
    web.sign_in(account)
    cookie = web.client.get_cookie("fairlane")
    assert cookie
    return f"fairlane={cookie.value}"


@contextmanager
def _watched(url: str, user_id: UUID) -> Iterator[list[float]]:
    """Seconds during which somebody else had the user's row, one after the other."""
    locked: list[float] = []
    stop = threading.Event()

    def watch() -> None:
        engine = create_engine(url, isolation_level="AUTOCOMMIT")
        with engine.connect() as connection:
            since = time.monotonic()
            while not stop.is_set():
                is_free = connection.execute(_FREE, {"id": user_id}).one_or_none() is not None
                now = time.monotonic()
                if not is_free:
                    locked.append(now - since)
                since = now
        engine.dispose()

    thread = threading.Thread(target=watch)
    thread.start()
    try:
        yield locked
    finally:
        stop.set()
        thread.join()


if __name__ == "__main__":
    main()
