"""A client of the soak: one connection, and the ways through the service."""

from __future__ import annotations

import http.client
import json
import random
import re
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

from bench.soak.ageing import SIGNED_UP, Ageing, Job
from bench.soak.commits import Commits

PATIENCE_SECONDS = 120
STREAM_SECONDS = 2.0
#: Less than the web keeps a connection for that nobody uses; what is closed sooner is a fault.
KEPT_SECONDS = 9.0
CLOSED = (BrokenPipeError, ConnectionResetError, http.client.RemoteDisconnected)
ANALYSES = "/api/v1/analyses"
REPOSITORY = "/repositories/local/-/{repository}"
_CSRF = re.compile(r'name="csrf_token" value="([^"]+)"')


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


class Client:
    """One connection.  ways: each returns the status of its answer; None: there was no job for it."""

    def __init__(
        self,
        url: str,
        dice: random.Random,
        tokens: Sequence[str],
        commits: Commits,
        ageing: Ageing,
        note: Callable[[Job], None],
    ) -> None:
        """note: is told of each job of an answer, also of one that is known."""
        self.dice = dice
        self._place, self._tokens, self._commits = urlsplit(url), tokens, commits
        self._ageing, self._note = ageing, note
        self._connection: http.client.HTTPConnection | None = None
        self._used = time.monotonic()
        self.ways: dict[str, Callable[[], int | None]] = {
            "submit": self._submit, "join": self._join, "stored": self._stored, "specify": self._specify,
            "cancel": self._cancel, "stream": self._stream, "sign up": self._sign_up,
            "job": lambda: self._read(f"{ANALYSES}/{{id}}"), "tests": lambda: self._read(f"{ANALYSES}/{{id}}/tests"),
            "timeline": lambda: self._read(f"{ANALYSES}/{{id}}/timeline"),
            "result page": lambda: self._read("/analyses/{id}"),
            "repository": lambda: self._read(f"{REPOSITORY}", f"/api/v1{REPOSITORY}/history"),
            "history": lambda: self.get("/api/v1/me/history"), "explore": lambda: self.get("/explore"),
            "usage": lambda: self.get("/api/v1/usage"), "home": lambda: self.get("/"),
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
        return self.dice.choice(self._tokens)

    def _recent(self) -> Job | None:
        jobs = list(self._ageing.recent)
        return self.dice.choice(jobs) if jobs else None

    def _post(self, token: str, repository: str, commit: str) -> int:
        wanted = {"repository": f"local:{repository}", "commit": commit}
        at = time.monotonic()
        answer = self._ask("POST", ANALYSES, token=token, body=wanted, Idempotency_Key=uuid4().hex)
        if answer.status == 202:
            self._note(Job(str(answer.json["id"]), "analysis", token, repository, commit, at))
        return answer.status

    def _submit(self) -> int:
        return self._post(self._anybody(), *self._commits.take())

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
            self._note(Job(str(answer.json["id"]), "specview", job.token, job.repository, job.commit, at))
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

    def get(self, path: str) -> int:
        """Read what anybody may see, as anybody.  Returns: the status."""
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
