"""Answers about jobs."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from app.domain.jobs import JobEvent, Progress
from app.domain.lifecycle import Failure
from app.web.core.shapes import Shape


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


class JobShape(Shape):
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
    progress: Progress | None
    error: Failure | None
    billed: bool
    parser_version: str | None = None
    summary: dict[str, Any] | None
    links: dict[str, str]
    outdated: bool


class JobPageShape(Shape):
    """Jobs, newest first; next: the cursor of the next page."""

    items: list[JobShape]
    next: int | None = None


class TimelineShape(Shape):
    """Every event of a job, in order."""

    items: list[JobEvent]
