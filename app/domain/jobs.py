"""A job as its readers see it: what was requested, its progress and its result."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from app.domain.lifecycle import FINAL, RETRIES, Failure, Status
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.domain.specification import Mode
from app.domain.waiting import Wait

#: Totals of a result by name, unchanged from the engine or the generator.
Summary = Mapping[str, Any]
#: (phase, done, total) of a running job; raises if it should stop.
Checkpoint = Callable[[str, int, int], None]
#: Details of an event of the timeline, by name.
EventFacts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """The progress of a running job.  done, total: files or tests, by phase."""

    phase: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Writing:
    """The source of a specification and its cost.  version, units: None until it has completed."""

    analysis_id: UUID
    language: str
    mode: Mode
    version: int | None
    units: int | None


@dataclass(frozen=True, slots=True)
class JobEvent:
    """One step of a job in its timeline."""

    id: int
    at: datetime
    event: str
    facts: EventFacts


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One accepted request, at one moment.

    trigger: user, anonymous or scheduled; tier, queue: of the reader's own request, None without one; carrier: the user
    in whose line an unfinished job is, which no answer shows; next_attempt_at: when it becomes ready again, if it waits
    for that; maker: parser version or generator, None before a worker starts it; billed: to the reader; outdated: made
    by another maker than the current one; writing: of a specification only.
    """

    id: UUID
    service: Service
    status: Status
    repository: Repository
    is_private: bool
    commit: str
    ref: str | None
    trigger: str
    tier: Tier | None
    queue: str | None
    attempt: int
    snoozes: int
    submitted_at: datetime
    carrier: UUID | None = None
    started_at: datetime | None = None
    finished_at: datetime | None = None
    next_attempt_at: datetime | None = None
    wait: Wait | None = None
    progress: Progress | None = None
    error: Failure | None = None
    billed: bool = False
    outdated: bool = False
    maker: str | None = None
    summary: Summary | None = None
    writing: Writing | None = None

    @property
    def is_final(self) -> bool:
        """Whether the job has ended."""
        return self.status in FINAL

    @property
    def max_attempts(self) -> int:
        """The number of attempts that a job of its service has."""
        return RETRIES[self.service].max_attempts
