"""A whole service, its users and its receivers, under load for so many minutes, looked at every five seconds."""

from __future__ import annotations

import json
import os
import tempfile
import threading
import time
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from urllib.request import Request, urlopen

from celery import Celery
from sqlalchemy.engine import make_url

from app import embedded
from app.adapters.publishing import publisher
from app.domain.plans import Tier
from app.services.accounts import accounts, tokens
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from bench.service import Service, running
from bench.soak import processes
from bench.soak.ageing import Ageing
from bench.soak.closing import Closing, close
from bench.soak.commits import Commits, made
from bench.soak.database import OWN, Database
from bench.soak.filling import PAGES, fill
from bench.soak.heartbeats import meet
from bench.soak.load import Load
from bench.soak.verdict import Look

EVERY_SECONDS = 5.0
#: Of what the machine reached at the beginning.
SHARE = 0.6
USERS, RECEIVERS = 40, 8
#: One process of each queue, two of those with most of the work: they are as many as two processors keep busy.
SIZES = {
    "ANALYZER_QUEUE_PRIORITY_WORKERS": "2", "ANALYZER_QUEUE_DEFAULT_WORKERS": "2",
    "ANALYZER_QUEUE_SCHEDULED_WORKERS": "1", "SPECGEN_QUEUE_PRIORITY_WORKERS": "1",
    "SPECGEN_QUEUE_DEFAULT_WORKERS": "1", "SPECGEN_QUEUE_SCHEDULED_WORKERS": "1", "MAINTENANCE_QUEUE_WORKERS": "1",
}  # fmt: skip
#: Of those, the ones that work for users who ask for an analysis or a specification.
WORKERS = {
    way: sum(int(SIZES[f"{service}_QUEUE_{queue}_WORKERS"]) for queue in ("PRIORITY", "DEFAULT"))
    for way, service in (("submit", "ANALYZER"), ("specify", "SPECGEN"))
}
OPEN = {
    "SIGN_UP": "open", "SIGN_UPS_PER_DAY": "1000000", "WEBHOOK_LOOPBACK": "yes",
    "READ_LIMIT_PER_MINUTE": "1000000", "LOG_LEVEL": "warning",
}  # fmt: skip
#: In shorter runs all is warm-up.
JUDGED_SECONDS = 600.0
#: The shortest that operators may set.
MAINTENANCE_SECONDS = 60


@dataclass
class Soak:
    """looks: of the load, without the calibration; rate: ways a second that were asked of it."""

    seconds: float
    seed: int
    looks: list[Look] = field(default_factory=list)
    table_of: dict[str, str] = field(default_factory=dict)
    reached: float = 0.0
    rate: float = 0.0
    received: int = 0
    load: Load | None = None
    closing: Closing | None = None
    machine: list[float] = field(default_factory=list)
    log: str = ""

    @property
    def live(self) -> timedelta:
        """How long everything is kept: a twelfth, so that a warm-up has four lives; of a short run, ten seconds.

        An index of random keys, from which as much is deleted as comes, has 87 % of its size after two lives, 94 %
        after three and a half, and all of it after five.
        """
        return timedelta(seconds=max(10.0, self.seconds / 12))

    @property
    def is_judged(self) -> bool:
        """Whether it is long enough to say what grows."""
        return self.seconds >= JUDGED_SECONDS

    def run(self) -> None:
        """Start, fill, calibrate, load, drain, look at what is left, and stop."""
        with tempfile.TemporaryDirectory(prefix="fairlane-soak-", ignore_cleanup_errors=True) as name:
            folder = Path(name)
            folder.chmod(0o755)
            work = folder / "tmp"
            work.mkdir()
            work.chmod(0o1777)
            commits = made(folder / "repositories")
            with _receiver() as (url, got):
                settings = {**SIZES, **OPEN, "TMPDIR": str(work)}
                with running(folder / "repositories", home=folder / "home", **settings) as service:
                    self._in(service, folder, commits, url)
                self.received = got[0]
            assert self.closing is not None
            self.closing.left_files = sorted(processes.files([work]))

    def _in(self, service: Service, folder: Path, commits: Commits, hook: str) -> None:
        _speed_up(service)
        with embedded.hold(service.home) as server, _units(server.url) as uow:
            look = Database.at(server.admin_url, make_url(server.url).database)
            users = _users(uow)
            people = [token for token, _ in users]
            _subscribe(service, people[:RECEIVERS], hook)
            ageing = Ageing(uow, self.live)
            if self.is_judged:
                self._fill(service, people, commits, ageing)
                meet(service.url, users, commits, ageing, look, WORKERS, self.seed)
            ageing.begin()
            self.reached = self._calibrated(service, people, commits, ageing)
            self.rate = self.reached * SHARE
            print(f"calibrated: {self.reached:.1f} ways a second; asked from now on: {self.rate:.1f}", flush=True)
            before = processes.files([folder / "tmp", service.home])
            self.load = Load(service.url, people, commits, ageing, self.seed, rate=self.rate)
            self.load.begin()
            self._watch(service, folder, look)
            self.load.end()
            self.closing = close(service, uow, look, ageing, [folder / "tmp", service.home], before)
            self.table_of, self.log = look.of, service.log.read_text(encoding="utf-8", errors="replace")
            look.connection.close()

    def _fill(self, service: Service, people: list[str], commits: Commits, ageing: Ageing) -> None:
        begun = time.monotonic()
        if faults := fill(service.url, people, commits, ageing, self.seed):
            raise SystemExit(f"the pages that fill the caches met faults: {faults[:5]}")
        print(f"filled the web's caches with {PAGES} pages in {time.monotonic() - begun:.0f} s", flush=True)

    def _calibrated(self, service: Service, people: list[str], commits: Commits, ageing: Ageing) -> float:
        """Ways a second, as fast as it goes, after the first ones have warmed everything."""
        load = Load(service.url, people, commits, ageing, self.seed + 1)
        load.begin()
        part = min(30.0, self.seconds / 10)
        time.sleep(part / 2)
        begun, before = time.monotonic(), len(load.times)
        time.sleep(part)
        while len(load.times) < before + 10:  # a rate of nothing is none
            time.sleep(0.1)  # a pause between two looks
        found = (len(load.times) - before) / (time.monotonic() - begun)
        load.end()
        if load.faults:
            raise SystemExit(f"the calibration met faults: {load.faults[:5]}")
        return found

    def _watch(self, service: Service, folder: Path, look: Database) -> None:
        begun, life = time.monotonic(), self.live.total_seconds()
        counted: deque[tuple[float, int]] = deque()
        due = begun
        assert self.load is not None
        while (now := time.monotonic()) < begun + self.seconds:
            sample = look.look()
            sample.update(processes.of_tree(service.pid))
            sample["files", "home and temporary"] = len(processes.files([folder / "tmp", service.home]))
            counted.append((now, self.load.accepted))
            while counted[0][0] < now - life:
                counted.popleft()
            self.machine.append(os.getloadavg()[0])
            self.looks.append(Look(now - begun, sample, self.load.accepted - counted[0][1]))
            due += EVERY_SECONDS
            time.sleep(max(0.0, due - time.monotonic()))


@contextmanager
def _units(url: str) -> Iterator[UnitOfWork]:
    engine = make_engine(url, pool_size=3, application_name=OWN)
    try:
        yield UnitOfWork(engine, publisher(Celery("soak", set_as_current=False, broker="memory://")))
    finally:
        engine.dispose()


def _users(uow: UnitOfWork) -> list[tuple[str, Tier]]:
    """Tokens of users of all tiers."""
    found = []
    for number in range(USERS):
        tier, now = list(Tier)[number % len(Tier)], datetime.now(UTC)
        made = accounts.add_user(uow, f"soak-{number}@example.org", tier=tier, actor="soak", now=now)
        found.append((tokens.add_token(uow, made.user_id, now=now).secret, tier))
    return found


def _send(service: Service, method: str, path: str, token: str, body: object) -> None:
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/json"}
    with urlopen(Request(service.url + path, json.dumps(body).encode(), headers, method=method), timeout=60):
        return


def _speed_up(service: Service) -> None:
    for name in ("sweep", "prune", "reconcile", "reschedule"):
        body = {"every_seconds": MAINTENANCE_SECONDS}
        _send(service, "PUT", f"/api/v1/operator/schedule/{name}", service.token, body)


def _subscribe(service: Service, people: list[str], hook: str) -> None:
    for token in people:
        _send(service, "POST", "/api/v1/me/webhooks", token, {"url": hook})


@contextmanager
def _receiver() -> Iterator[tuple[str, list[int]]]:
    """A receiver of webhooks, and how many it got."""
    got = [0]

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            got[0] += 1
            self.send_response(204)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_: object) -> None:
            """Be silent."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/hook", got
    finally:
        server.shutdown()
        server.server_close()
