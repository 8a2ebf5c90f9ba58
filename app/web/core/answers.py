"""What clients get: the shapes of the OpenAPI document.  Members may be added, so clients must accept unknown ones."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from pydantic import BaseModel, ConfigDict


class Shape(BaseModel):
    """An object of the API."""

    model_config = ConfigDict(extra="allow")


class RepositoryShape(Shape):
    """A repository."""

    host: str
    owner: str
    name: str
    url: str
    private: bool


class WaitShape(Shape):
    """Why the job has not started: as a code, in numbers and in words."""

    reason: Literal["starting", "workers_busy", "user_at_limit", "backoff", "queue_paused", "no_workers"]
    position: int | None
    ahead_of_you: int | None
    running: int | None
    limit: int | None
    eta_seconds: int | None
    eta_low: int | None
    eta_high: int | None
    text: str
    yours_ahead: int | None


class ProgressShape(Shape):
    """The progress of a running job."""

    phase: str
    done: int
    total: int


class ErrorShape(Shape):
    """Why a job failed."""

    code: str
    message: str
    retryable: bool


class Job(Shape):
    """A request to analyse one commit, and its state."""

    id: UUID
    service: Literal["analysis", "specview"]
    status: Literal["queued", "waiting", "running", "retrying", "completed", "failed", "cancelled"]
    repository: RepositoryShape
    commit: str
    ref: str | None
    trigger: Literal["user", "anonymous", "scheduled"]
    queue: str | None
    tier: str | None
    attempt: int
    max_attempts: int
    snoozes: int
    submitted_at: datetime
    started_at: datetime | None
    finished_at: datetime | None
    next_attempt_at: datetime | None
    wait: WaitShape | None
    progress: ProgressShape | None
    error: ErrorShape | None
    billed: bool
    parser_version: str | None = None
    summary: dict[str, Any] | None
    links: dict[str, str]
    outdated: bool


class ProblemShape(Shape):
    """RFC 9457."""

    type: str
    title: str
    status: int
    detail: str
    request_id: str


class BatchItem(Shape):
    """status: as POST /analyses would have answered; with a job or a problem."""

    index: int
    status: int
    job: Job | None = None
    problem: ProblemShape | None = None


class Batch(Shape):
    """The items, in the order of the request."""

    items: list[BatchItem]


class Event(Shape):
    """One event of a job."""

    id: int
    at: datetime
    event: str
    facts: dict[str, Any]


class Timeline(Shape):
    """Every event of a job, in order."""

    items: list[Event]


class JobPage(Shape):
    """Jobs, newest first; next: the cursor of the next page."""

    items: list[Job]
    next: int | None = None


class RepositoryResult(Shape):
    """newest: the last completed analysis; history: it and earlier ones."""

    host: str
    owner: str
    name: str
    url: str
    newest: Job | None
    history: list[Job]


class Meter(Shape):
    """Units of this period.  limit null: unlimited."""

    used: int
    reserved: int
    limit: int | None
    free: int | None
    level: Literal["ok", "warn", "danger", "spent"]


class Usage(Shape):
    """This period's units by kind."""

    tier: str
    period_start: datetime
    resets_at: datetime
    analysis: Meter
    specview: Meter


class Reservation(Shape):
    """Units reserved for one unfinished job."""

    job_id: UUID
    event_type: str
    reserved_amount: int
    accepted_at: datetime
    expires_at: datetime


class Reservations(Shape):
    """Oldest first."""

    items: list[Reservation]


class QuotaAnswer(Shape):
    """What an accept would decide; nothing is reserved."""

    event_type: str
    amount: int
    allowed: bool
    used: int
    reserved: int
    limit: int | None
    resets_at: datetime


class Me(Shape):
    """The account behind a token or session."""

    user_id: UUID
    email: str | None
    tier: str
    is_operator: bool
    is_read_only_operator: bool
    scopes: list[str]


class TokenRow(Shape):
    """A token without its secret."""

    id: UUID
    prefix: str
    name: str
    scopes: list[str]
    created_at: datetime | None = None
    expires_at: datetime | None = None
    last_used_at: datetime | None = None


class NewTokenShape(TokenRow):
    """token: shown only once; only its hash is stored."""

    token: str


class Tokens(Shape):
    """Newest first."""

    items: list[TokenRow]


class NewestShape(Shape):
    """The newest completed analysis of a repository's default branch.  outdated: made by another parser version."""

    id: UUID
    commit: str
    completed_at: datetime
    outdated: bool
    summary: dict[str, Any]
    links: dict[str, str]


class Bookmark(Shape):
    """A repository that you marked.  newest: null before its first result."""

    repository: RepositoryShape
    bookmarked_at: datetime
    newest: NewestShape | None


class Bookmarks(Shape):
    """Newest first; next: the cursor of the next page."""

    items: list[Bookmark]
    next: int | None = None


class Finding(Shape):
    """One invariant.  status: unknown if time ran out; broken: number of rows; rows: the first of them."""

    number: str
    title: str
    sentence: str
    status: Literal["holds", "broken", "unknown"]
    seconds: float
    broken: int
    rows: list[dict[str, Any]]


class Audit(Shape):
    """broken, unknown: numbers of invariants."""

    at: datetime
    broken: int
    unknown: int
    items: list[Finding]
