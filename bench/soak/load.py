"""Traffic of many users: submissions of all kinds, reads, streams, cancels and sign-ups, at a rate that is held."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import re
import threading
import time
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

from bench.soak.ageing import SIGNED_UP, Ageing, Job

THREADS = 8
PATIENCE_SECONDS = 120
STREAM_SECONDS = 2.0
#: Less than the web keeps a connection for that nobody uses; what is closed sooner is a fault.
KEPT_SECONDS = 9.0
CLOSED = (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected)
#: More jobs than these are not left waiting: the submission is held back, and counted.
MOST_WAITING = 40
#: How often each way is taken, of about a hundred.
WEIGHTS = {
    "submit": 24, "join": 5, "stored": 8, "specify": 5, "cancel": 3, "job": 14, "tests": 8, "result page": 6,
    "history": 6, "repository": 5, "explore": 4, "usage": 4, "stream": 4, "home": 2, "timeline": 3, "sign up": 1,
}  # fmt: skip
#: Ways that make work.
WORK = ("submit", "join", "specify")
_CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')
ANALYSES = "/api/v1/analyses"
REPOSITORY = "/repositories/local/-/{repository}"


@dataclass(frozen=True, slots=True)
class Answer:
    """What the web said."""

    status: int
    body: bytes
    cookies: str

    @property
    def json(self) -> dict[str, object]:
        """The object in it."""
        found: dict[str, object] = json.loads(self.body)
        return found


class Commits:
    """The commits of all repositories, round and round: what was analysed is pruned before its turn comes again."""

    def __init__(self, repositories: dict[str, Sequence[str]]) -> None:
        longest = max(len(commits) for commits in repositories.values())
        turns = [
            (name, commits[n]) for n in range(longest) for name, commits in repositories.items() if n < len(commits)
        ]
        self._next, self._lock = itertools.cycle(turns), threading.Lock()
        self.count = len(turns)

    def take(self) -> tuple[str, str]:
        """The next one; threads may ask at once."""
        with self._lock:
            return next(self._next)


@dataclass
class Load:
    """tokens: of the users; rate: ways a second, none: as fast as it goes.  times: (at, way, milliseconds)."""

    url: str
    tokens: Sequence[str]
    commits: Commits
    ageing: Ageing
    seed: int
    rate: float | None = None
    times: list[tuple[float, str, float]] = field(default_factory=list)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    held: int = 0
    accepted: int = 0
    _over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _threads: list[threading.Thread] = field(default_factory=list)
    _due: float = 0.0

    def begin(self) -> None:
        """Start the clients."""
        self._threads = [threading.Thread(target=self._client, args=(n,), daemon=True) for n in range(THREADS)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Send nothing more."""
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)

    def _client(self, number: int) -> None:
        client = Client(self, random.Random(self.seed * 100 + number))
        while not self._over.is_set():
            if (wait := self._turn()) > 0:
                self._over.wait(wait)
            if self._over.is_set():
                break
            way = client.dice.choices(list(WEIGHTS), list(WEIGHTS.values()))[0]
            if way in WORK and not self._may_work():
                continue
            self._take(client, way)
        client.close()

    def _take(self, client: Client, way: str) -> None:
        begun = time.monotonic()
        try:
            status = client.ways[way]()
        except (OSError, http.client.HTTPException) as error:
            client.close()
            self.faults.append(f"{way}: {error!r}")
            return
        if status is not None:
            ended = time.monotonic()
            self.times.append((ended, way, (ended - begun) * 1000))
            with self._lock:
                self.answers[way, status] += 1
            if status >= 500:
                self.faults.append(f"{way}: {status}")

    def _turn(self) -> float:
        """Seconds until the next way is due.  What was missed is not made up for: a busy machine gets less."""
        if self.rate is None:
            return 0.0
        with self._lock:
            now = time.monotonic()
            self._due = max(self._due + 1 / self.rate, now - 1.0)
            return self._due - now

    def _may_work(self) -> bool:
        if len(self.ageing.pending) < MOST_WAITING:
            return True
        self.held += 1
        if self.rate is None:  # as fast as the workers are
            while len(self.ageing.pending) >= MOST_WAITING and not self._over.wait(0.05):
                pass
            return not self._over.is_set()
        return False

    def note(self, job: Job) -> None:
        """A job was accepted."""
        if self.ageing.accept(job):
            with self._lock:
                self.accepted += 1


class Client:
    """One connection.  ways: each returns the status of its answer; None: there was no job for it."""

    def __init__(self, load: Load, dice: random.Random) -> None:
        self.dice = dice
        self._load, self._ageing = load, load.ageing
        self._place = urlsplit(load.url)
        self._connection: http.client.HTTPConnection | None = None
        self._used = time.monotonic()
        self.ways: dict[str, Callable[[], int | None]] = {
            "submit": self._submit, "join": self._join, "stored": self._stored, "specify": self._specify,
            "cancel": self._cancel, "stream": self._stream, "sign up": self._sign_up,
            "job": lambda: self._read(f"{ANALYSES}/{{id}}"), "tests": lambda: self._read(f"{ANALYSES}/{{id}}/tests"),
            "timeline": lambda: self._read(f"{ANALYSES}/{{id}}/timeline"),
            "result page": lambda: self._read("/analyses/{id}"),
            "repository": lambda: self._read(f"{REPOSITORY}", f"/api/v1{REPOSITORY}/history"),
            "history": lambda: self._get("/api/v1/me/history"), "explore": lambda: self._get("/explore"),
            "usage": lambda: self._get("/api/v1/usage"), "home": lambda: self._get("/"),
        }  # fmt: skip

    def close(self) -> None:
        """Leave; the next request connects again."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _ask(self, method: str, path: str, *, token: str = "", body: object = None, **headers: str) -> Answer:
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        if token:
            sent["Authorization"] = f"Bearer {token}"
        if body is not None and "Content-Type" not in sent:
            sent["Content-Type"], body = "application/json", json.dumps(body)
        try:
            return self._sent(method, path, body, sent)
        except CLOSED:
            if time.monotonic() - self._used < KEPT_SECONDS:
                raise
            self.close()  # the web closes connections that nobody uses
            return self._sent(method, path, body, sent)

    def _sent(self, method: str, path: str, body: object, headers: dict[str, str]) -> Answer:
        if self._connection is None:
            self._connection = http.client.HTTPConnection(self._place.netloc, timeout=PATIENCE_SECONDS)
        self._connection.request(method, path, body, headers)
        answer = self._connection.getresponse()
        cookies = "; ".join(one.split(";")[0] for one in answer.headers.get_all("Set-Cookie", []))
        found = Answer(answer.status, answer.read(), cookies)
        self._used = time.monotonic()
        return found

    def _anybody(self) -> str:
        return self.dice.choice(self._load.tokens)

    def _recent(self) -> Job | None:
        jobs = list(self._ageing.recent)
        return self.dice.choice(jobs) if jobs else None

    def _post(self, token: str, repository: str, commit: str) -> int:
        wanted = {"repository": f"local:{repository}", "commit": commit}
        at = time.monotonic()
        answer = self._ask("POST", ANALYSES, token=token, body=wanted, Idempotency_Key=uuid4().hex)
        if answer.status == 202:
            self._load.note(Job(str(answer.json["id"]), "analysis", token, repository, commit, at))
        return answer.status

    def _submit(self) -> int:
        return self._post(self._anybody(), *self._load.commits.take())

    def _join(self) -> int | None:
        running = [job for job in list(self._ageing.pending.values()) if job.service == "analysis"]
        if not running:
            return None
        job = self.dice.choice(running)
        return self._post(self._anybody(), job.repository, job.commit)

    def _stored(self) -> int | None:
        job = self._recent()
        return None if job is None else self._post(self._anybody(), job.repository, job.commit)

    def _specify(self) -> int | None:
        job = self._recent()
        if job is None:
            return None
        at = time.monotonic()
        answer = self._ask("POST", "/api/v1/specs", token=job.token, body={"analysis_id": job.id, "language": "en"})
        if answer.status == 202:
            self._load.note(Job(str(answer.json["id"]), "specview", job.token, job.repository, job.commit, at))
        return answer.status

    def _cancel(self) -> int | None:
        running = [job for job in list(self._ageing.pending.values()) if job.service == "analysis"]
        if not running:
            return None
        job = self.dice.choice(running)
        return self._ask("DELETE", f"{ANALYSES}/{job.id}", token=job.token).status

    def _read(self, *paths: str) -> int | None:
        job = self._recent()
        if job is None:
            return None
        path = self.dice.choice(paths)
        return self._ask("GET", path.format(id=job.id, repository=job.repository), token=job.token).status

    def _get(self, path: str) -> int:
        return self._ask("GET", path, token=self._anybody()).status

    def _stream(self) -> int | None:
        running = list(self._ageing.pending.values())
        if not running:
            return None
        job = self.dice.choice(running)
        kind = "specs" if job.service == "specview" else "analyses"
        stream = http.client.HTTPConnection(self._place.netloc, timeout=PATIENCE_SECONDS)
        try:
            stream.request("GET", f"/api/v1/{kind}/{job.id}/events", headers={"Authorization": f"Bearer {job.token}"})
            answer = stream.getresponse()
            until = time.monotonic() + STREAM_SECONDS
            while time.monotonic() < until and answer.readline():
                pass
            return answer.status
        finally:
            stream.close()

    def _sign_up(self) -> int:
        form = self._ask("GET", "/sign-up")
        typed = {
            "email": f"{SIGNED_UP}{uuid4().hex}@example.org",
            "password": uuid4().hex,
            "csrf_token": _token_of(form),
        }
        made = self._send("/sign-up", typed, form.cookies)
        if made.status == 303:
            page = self._ask("GET", "/plans", Cookie=made.cookies)
            self._send("/sign-out", {"csrf_token": _token_of(page)}, made.cookies)
        return made.status

    def _send(self, path: str, typed: dict[str, str], cookies: str) -> Answer:
        connection_type = "application/x-www-form-urlencoded"
        return self._ask("POST", path, body=urlencode(typed), Content_Type=connection_type, Cookie=cookies)


def _token_of(page: Answer) -> str:
    found = _CSRF.search(page.body.decode())
    if found is None:
        raise http.client.HTTPException(f"a page without a form: {page.status} {page.body[:300]!r}")
    return found[1]
