"""What the service answers, as far as a client needs it (docs/api.md)."""

from __future__ import annotations

from typing import Any, Final, TypedDict

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
    """Why a job does not run yet.  eta_*: seconds, None if no estimate is possible; position: in its queue, from 1."""

    reason: str
    position: int | None
    ahead_of_you: int | None
    running: int | None
    limit: int | None
    eta_seconds: int | None
    eta_low: int | None
    eta_high: int | None
    text: str
    yours_ahead: int | None


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
    """One analysis.  queue, tier: None of somebody else's job; the service may send more members than these."""

    id: str
    service: str
    status: str
    repository: Repository
    commit: str
    ref: str | None
    trigger: str
    queue: str | None
    tier: str | None
    attempt: int
    max_attempts: int
    snoozes: int
    submitted_at: str
    started_at: str | None
    finished_at: str | None
    next_attempt_at: str | None
    wait: Wait | None
    progress: Progress | None
    error: Failure | None
    billed: bool
    outdated: bool
    parser_version: str | None
    summary: Summary | None
    links: dict[str, str]


class Check(TypedDict):
    """One check of a test.

    relation: between subject and expected, which are source; negated: it must not hold; value: of expected, if that is
    a literal; idle: why it decides nothing; by: the call that leads to it, and file: where it is, if in another file.
    """

    line: int | None
    relation: str
    negated: bool
    subject: str | None
    expected: str | None
    value: Any
    tolerance: str | None
    message: str | None
    idle: str | None
    nested: bool
    by: str | None
    file: str | None


class Test(TypedDict):
    """One test definition.

    check_count: checks that decide something; cannot_fail: why it passes whatever the code does; None: not known.
    """

    file: str
    framework: str
    suites: list[str]
    name: str
    line: int
    status: str
    kind: str
    cases: int | None
    column: int | None
    dynamic: bool
    check_count: int | None
    cannot_fail: str | None


class ListedTest(Test):
    """A test of a list.

    checks, subjects: what it checks and calls, None if the list is not that of one file, or where it is not known.
    """

    checks: list[Check] | None
    subjects: list[str] | None


class TestPage(TypedDict):
    """Some tests.  next: the cursor of the following page, None on the last one."""

    items: list[ListedTest]
    next: str | None
    total: int


class ChangedTest(TypedDict):
    """One test on both sides of a comparison."""

    before: Test
    after: Test


class Comparison(TypedDict):
    """The changes from one analysis to another.  totals: of each group, and `unchanged`; unknown: unreadable files."""

    totals: dict[str, int]
    added: list[Test]
    removed: list[Test]
    moved: list[ChangedTest]
    renamed: list[ChangedTest]
    status_changed: list[ChangedTest]
    unknown: list[str]


class RepositoryResult(TypedDict):
    """A repository.  newest: its last completed analysis; history: that and earlier ones, newest first."""

    host: str
    owner: str
    name: str
    url: str
    newest: Job | None
    history: list[Job]


class SpecificationJob(Job):
    """A request to write a specification.  version: 1, 2, … per user, analysis and language; units: the billed ones."""

    analysis_id: str
    language: str
    mode: str
    generator: str | None
    version: int | None
    units: int | None


class Meter(TypedDict):
    """Units of this period.  limit, free: None if there is no limit."""

    used: int
    reserved: int
    limit: int | None
    free: int | None
    level: str


class Usage(TypedDict):
    """The units of this period, by kind.  period_start, resets_at: ISO 8601."""

    tier: str
    period_start: str
    resets_at: str
    analysis: Meter
    specview: Meter
