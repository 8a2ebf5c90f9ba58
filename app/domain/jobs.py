"""A job as it is told to those who may see it: what was asked for, how far it is, and what came of it."""

from __future__ import annotations

from collections.abc import Mapping
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

#: Totals of a result by name, as the engine or the generator told them; they are handed on as they are.
Summary = Mapping[str, Any]
#: What a step tells of itself in the timeline, by name.
EventFacts = Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running job is: files or tests that are done, of so many."""

    phase: str
    done: int
    total: int


@dataclass(frozen=True, slots=True)
class Writing:
    """What a specification is written of, and what it cost.  version, units: None until it has completed."""

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

    trigger: user, anonymous or scheduled; next_attempt_at: when it is ready again, if it waits for that; maker: parser
    version or generator, None before a worker started it; billed: to whoever reads it; outdated: by another maker than
    the present one; writing: of a specification only.
    """

    id: UUID
    service: Service
    status: Status
    repository: Repository
    is_private: bool
    commit: str
    ref: str | None
    trigger: str
    tier: Tier
    queue: str
    attempt: int
    snoozes: int
    submitted_at: datetime
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
        """Whether it has ended."""
        return self.status in FINAL

    @property
    def max_attempts(self) -> int:
        """How many attempts a job of its service has."""
        return RETRIES[self.service].max_attempts
