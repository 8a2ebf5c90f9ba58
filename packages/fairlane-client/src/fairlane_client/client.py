"""The client itself: one connection pool, one method for each call of the API that programs make."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from collections.abc import Set as AbstractSet
from typing import Any, Self
from urllib.parse import quote
from uuid import uuid4

import httpx

from fairlane_client.errors import RefusedError, UnreachableError
from fairlane_client.shapes import FINAL, Comparison, Job, RepositoryResult, SpecificationJob, Test, TestPage, Usage

POLL_SECONDS = 0.5
#: of the service's answer; a submission may ask the Git host for the newest commit
TIMEOUT_SECONDS = 60.0
TOO_MANY = 429
#: Members of answers that every release of the service sends.
JOB, PAGE = frozenset({"id", "status", "wait", "progress", "error", "summary", "links"}), frozenset({"items", "next"})


def ignore(job: Job) -> None:
    """Do nothing with a job."""


class Client:
    """Use as a context manager.  Every method raises UnreachableError, and RefusedError for a problem."""

    def __init__(self, url: str, token: str = "", *, transport: httpx.BaseTransport | None = None) -> None:
        """Make a client of one service.

        token: as `fairlane token add` prints it; empty for a visitor, if the service allows them.
        """
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
        job: Job = self._ask("POST", "/api/v1/analyses", needs=JOB, json=body, headers=headers)
        return job

    def job(self, job_id: str) -> Job:
        """An analysis as it is now."""
        job: Job = self._ask("GET", f"/api/v1/analyses/{job_id}", needs=JOB)
        return job

    def wait(
        self, job: Job, *, seen: Callable[[Job], None] = ignore, pause: Callable[[float], object] = time.sleep
    ) -> Job:
        """The job after it has ended.  seen: called with each state; pause: waits for that many seconds."""
        while job["status"] not in FINAL:
            seen(job)
            pause(POLL_SECONDS)
            job = self._patient(job["id"], pause)
        return job

    def tests(self, job_id: str, **filters: str) -> Iterator[Test]:
        """The tests of a completed analysis, by path and line.  filters: as the API names them."""
        cursor: str | None = None
        while True:
            parameters = filters if cursor is None else {**filters, "cursor": cursor}
            page: TestPage = self._ask("GET", f"/api/v1/analyses/{job_id}/tests", needs=PAGE, params=parameters)
            yield from page["items"]
            cursor = page["next"]
            if cursor is None:
                return

    def cancel(self, job_id: str) -> None:
        """Stop an analysis that has not ended; nobody is billed for it."""
        self._send("DELETE", f"/api/v1/analyses/{job_id}")

    def compare(self, before_id: str, after_id: str) -> Comparison:
        """The changes of the tests from one completed analysis to the other."""
        found: Comparison = self._ask("GET", f"/api/v1/analyses/{before_id}/compare/{after_id}")
        return found

    def repository(self, host: str, owner: str, name: str) -> RepositoryResult:
        """The newest result of a public repository, and earlier ones; a local one has host `local` and owner `-`."""
        found: RepositoryResult = self._ask("GET", _repository(host, owner, name))
        return found

    def history(self, host: str, owner: str, name: str) -> list[Job]:
        """The completed analyses of a public repository, newest first."""
        jobs: list[Job] = self._ask("GET", f"{_repository(host, owner, name)}/history")["items"]
        return jobs

    def specifications(self, analysis_id: str | None = None) -> list[SpecificationJob]:
        """Your completed specifications, newest first; analysis_id: None means of all analyses."""
        parameters = {} if analysis_id is None else {"analysis_id": analysis_id}
        jobs: list[SpecificationJob] = self._ask("GET", "/api/v1/specs", params=parameters)["items"]
        return jobs

    def usage(self) -> Usage:
        """Return the units of this period: used, reserved and the limit."""
        found: Usage = self._ask("GET", "/api/v1/usage")
        return found

    def _patient(self, job_id: str, pause: Callable[[float], object]) -> Job:
        """The job; if the service says that it is asked too often, after the time that it names."""
        while True:
            try:
                return self.job(job_id)
            except RefusedError as refusal:
                if refusal.status != TOO_MANY or refusal.retry_after is None:
                    raise
                pause(refusal.retry_after)

    def _ask(self, method: str, path: str, *, needs: AbstractSet[str] = frozenset(), **options: Any) -> Any:
        """The answer as JSON.  The caller says its shape, which is that of the API's document.

        Anything but an object with the members that it needs, such as a proxy's page to sign in, does not come from the
        service.
        """
        answer = self._send(method, path, **options)
        found = _object(answer)
        if not found or not needs <= found.keys():
            raise UnreachableError(self.url, f"HTTP {answer.status_code} without an object of this API")
        return found

    def _send(self, method: str, path: str, **options: Any) -> httpx.Response:
        try:
            answer = self._http.request(method, path, **options)
        except httpx.HTTPError as error:
            raise UnreachableError(self.url, error) from error
        if answer.is_success:
            return answer
        raise RefusedError(answer.status_code, _object(answer), _seconds(answer.headers.get("Retry-After")))


def _repository(*segments: str) -> str:
    return "/api/v1/repositories/" + "/".join(quote(segment, safe="") for segment in segments)


def _object(answer: httpx.Response) -> dict[str, Any]:
    """Empty if the answer is none, as that of a proxy."""
    try:
        found = answer.json()
    except ValueError:
        return {}
    return found if isinstance(found, dict) else {}


def _seconds(value: str | None) -> float | None:
    return float(value) if value and value.isdecimal() else None
