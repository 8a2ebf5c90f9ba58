"""The client itself: one connection pool, one method for each thing that a program does."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from typing import Any, Self
from uuid import uuid4

import httpx

from app.client.errors import RefusedError, UnreachableError
from app.client.shapes import FINAL, Job, Test, TestPage

POLL_SECONDS = 0.5
#: of the service's answer; a submission may ask the Git host for the newest commit
TIMEOUT_SECONDS = 60.0
TOO_MANY = 429


def ignore(job: Job) -> None:
    """Nobody wants to know."""


class Client:
    """Use as a context manager.  Every method raises UnreachableError, and RefusedError for a problem."""

    def __init__(self, url: str, token: str = "", *, transport: httpx.BaseTransport | None = None) -> None:
        """token: as `fairlane token add` prints it; empty for a visitor, if the service allows them."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self.url = url.rstrip("/")
        self._http = httpx.Client(base_url=url, headers=headers, timeout=TIMEOUT_SECONDS, transport=transport)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._http.close()

    def submit(
        self, repository: str, *, ref: str | None = None, commit: str | None = None, retry: bool = False, key: str = ""
    ) -> Job:
        """Ask for an analysis; the job may have ended, if the commit was analysed before.

        key: of idempotency, a random one if empty: a repeated call with the same key submits nothing new.
        """
        members = {"repository": repository, "ref": ref, "commit": commit, "retry": retry or None}
        body = {name: value for name, value in members.items() if value is not None}
        headers = {"Idempotency-Key": key or str(uuid4())}
        job: Job = self._ask("POST", "/api/v1/analyses", json=body, headers=headers)
        return job

    def job(self, job_id: str) -> Job:
        """An analysis as it is now."""
        job: Job = self._ask("GET", f"/api/v1/analyses/{job_id}")
        return job

    def wait(
        self, job: Job, *, seen: Callable[[Job], None] = ignore, pause: Callable[[float], object] = time.sleep
    ) -> Job:
        """The job after it has ended.  seen: called with each state; pause: waits for so many seconds."""
        while job["status"] not in FINAL:
            seen(job)
            pause(POLL_SECONDS)
            job = self._patient(job["id"], pause)
        return job

    def tests(self, job_id: str, **filters: str) -> Iterator[Test]:
        """The tests of a completed analysis, by path and line.  filters: as the API names them."""
        cursor: str | None = None
        while True:
            asked = filters if cursor is None else {**filters, "cursor": cursor}
            page: TestPage = self._ask("GET", f"/api/v1/analyses/{job_id}/tests", params=asked)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    def cancel(self, job_id: str) -> None:
        """Stop an analysis that has not ended; nobody is billed for it."""
        self._send("DELETE", f"/api/v1/analyses/{job_id}")

    def _patient(self, job_id: str, pause: Callable[[float], object]) -> Job:
        """The job; if the service says that it is asked too often, after the time that it names."""
        while True:
            try:
                return self.job(job_id)
            except RefusedError as refusal:
                if refusal.status != TOO_MANY or refusal.retry_after is None:
                    raise
                pause(refusal.retry_after)

    def _ask(self, method: str, path: str, **options: Any) -> Any:
        """The answer as JSON.  The caller says its shape, which is that of the API's document."""
        return self._send(method, path, **options).json()

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            answer = self._http.request(method, path, **options)
        except httpx.HTTPError as error:
            raise UnreachableError(self.url, error) from error
        if answer.is_success:
            return answer
        raise RefusedError(answer.status_code, _problem(answer), _seconds(answer.headers.get("Retry-After")))


def _problem(answer: httpx.Response) -> dict[str, Any]:
    """Empty if the answer is none, as that of a proxy."""
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(value: str | None) -> float | None:
    return float(value) if value and value.isdecimal() else None
