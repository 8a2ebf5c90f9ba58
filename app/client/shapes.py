"""What the service answers, as far as a client needs it (docs/api.md)."""

from __future__ import annotations

from typing import Final, TypedDict

#: statuses after which a job does not change
FINAL: Final = frozenset({"completed", "failed", "cancelled"})


class Repository(TypedDict):
    """Where the tests are."""

    host: str
    owner: str
    name: str
    url: str
    private: bool


class Wait(TypedDict):
    """Why a job does not run yet.  eta_*: seconds, None if nobody can tell; position: in its queue, from 1."""

    reason: str
    position: int | None
    ahead_of_you: int | None
    running: int
    limit: int | None
    eta_seconds: int | None
    eta_low: int | None
    eta_high: int | None
    text: str


class Progress(TypedDict):
    """How far a running job is.  total: 0 if it is not known yet."""

    phase: str
    done: int
    total: int


class Failure(TypedDict):
    """Why a job failed."""

    code: str
    message: str
    retryable: bool


class Summary(TypedDict):
    """Totals of a completed analysis."""

    files: int
    suites: int
    tests: int
    by_status: dict[str, int]
    by_framework: dict[str, int]


class Job(TypedDict):
    """One analysis.  The service sends more members than these."""

    id: str
    status: str
    repository: Repository
    commit: str
    ref: str | None
    queue: str
    attempt: int
    submitted_at: str
    started_at: str | None
    finished_at: str | None
    wait: Wait | None
    progress: Progress | None
    error: Failure | None
    billed: bool
    outdated: bool
    summary: Summary | None
    links: dict[str, str]


class Test(TypedDict):
    """One test definition."""

    file: str
    framework: str
    suites: list[str]
    name: str
    line: int
    status: str
    kind: str
    dynamic: bool
    cases: int | None


class TestPage(TypedDict):
    """Some tests.  next: the cursor of the following page, None on the last one."""

    items: list[Test]
    next: str | None
    total: int
