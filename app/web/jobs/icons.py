"""The picture of a tab, which says how a job stands: static/favicon-NAME.svg."""

from __future__ import annotations

from app.domain.jobs import Job
from app.domain.lifecycle import Status
from app.web.core.static_files import asset

#: A cancelled job has no picture of its own.
ICONS = {
    Status.QUEUED: "favicon-waiting.svg",
    Status.WAITING: "favicon-waiting.svg",
    Status.RETRYING: "favicon-waiting.svg",
    Status.RUNNING: "favicon-running.svg",
    Status.COMPLETED: "favicon-completed.svg",
    Status.FAILED: "favicon-failed.svg",
}


def icon_of(job: Job) -> str:
    """The name of the file for its state."""
    return ICONS.get(job.status, "favicon.svg")


def icons() -> dict[str, str]:
    """The addresses by state, for job.js."""
    return {status.value: asset(name) for status, name in ICONS.items()}
