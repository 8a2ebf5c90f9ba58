"""The queues of the services, that of maintenance, and the function that chooses a job's (docs/adr/0015, 0056)."""

from __future__ import annotations

import re
from enum import StrEnum

from app.domain.plans import PAID, EventType, Tier


class Service(StrEnum):
    """The kind of work that a queue holds."""

    ANALYSIS = "analysis"
    SPECVIEW = "specview"

    @property
    def event_type(self) -> EventType:
        """The event type under which a finished job of this service is billed."""
        return EventType(self.value)

    @property
    def task(self) -> str:
        """The name of the Celery task that does a job of this service."""
        return "tasks.analysis.analyse" if self is Service.ANALYSIS else "tasks.specification.specify"


SUFFIXES = ("priority", "default", "scheduled")
#: The queues of jobs.
JOB_QUEUES = tuple(f"{service}_{suffix}" for service in Service for suffix in SUFFIXES)
#: Work on the whole database that takes minutes or hours.  It is never on a queue of jobs or of the sweep.
MAINTENANCE = "maintenance"
ALL_QUEUES = (*JOB_QUEUES, MAINTENANCE)

_LEGAL_NAME = re.compile(r"[A-Za-z0-9_-]+")


def check_queue_names(names: tuple[str, ...] = ALL_QUEUES) -> None:
    """Refuse names with other characters than letters, digits, `_`, `-`.  Raises: ValueError."""
    for name in names:
        if not _LEGAL_NAME.fullmatch(name):
            raise ValueError(f"queue name {name!r} may hold only letters, digits, '_' and '-'")


def select_queue(service: Service, tier: Tier | str | None, *, scheduled: bool = False) -> str:
    """Name the queue of a job.  Scheduled work is never in a user's queue; an unknown tier gets the default queue."""
    if scheduled:
        return f"{service}_scheduled"
    return f"{service}_priority" if tier in PAID else f"{service}_default"


def user_queues(service: Service) -> tuple[str, str]:
    """The queues of a service on which the jobs of users wait."""
    return f"{service}_priority", f"{service}_default"


def service_of(queue: str) -> Service:
    """The service whose jobs wait in one of JOB_QUEUES."""
    return Service(queue.partition("_")[0])


def lent_to(queue: str) -> str | None:
    """The queue whose jobs the idle workers of this one may take; None if there is no such queue."""
    return queue.removesuffix("_priority") + "_default" if queue.endswith("_priority") else None
