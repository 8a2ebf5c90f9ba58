"""An endpoint that parses what an accept parses and answers as it does, without a database."""

from typing import Any
from uuid import UUID

from apiflask import APIBlueprint

from app.domain.queues import Service
from app.web.core.schemas import SubmitAnalysis
from app.web.jobs.job_json import links
from app.web.jobs.shapes import JobShape

JOB = "00000000-0000-4000-8000-000000000000"
#: As a fresh job is described.
WAIT = {
    "reason": "workers_busy", "position": 1, "ahead_of_you": 0, "yours_ahead": 0, "running": None, "limit": None,
    "eta_seconds": None, "eta_low": None, "eta_high": None, "text": "Starting.",
}  # fmt: skip
NOTHING = dict.fromkeys(
    ("started_at", "finished_at", "next_attempt_at", "progress", "error", "parser_version", "summary", "ref")
)
REPOSITORY = {"host": "github.com", "owner": "bench", "name": "shop", "url": "https://x", "private": False}

bare = APIBlueprint("bare", __name__, url_prefix="/bench")


@bare.post("/parse")
@bare.input(SubmitAnalysis, arg_name="asked")
@bare.output(JobShape, 202)
def parse(asked: SubmitAnalysis) -> tuple[dict[str, Any], int, dict[str, str]]:
    """Answer as POST /analyses does, and do nothing."""
    return fresh_job(asked.commit), 202, {"Location": "/", "Retry-After": "1"}


def fresh_job(commit: str | None) -> dict[str, Any]:
    """What an accept answers."""
    return {
        "id": JOB, "service": "analysis", "status": "queued", "repository": REPOSITORY, "commit": commit,
        "trigger": "user", "tier": "enterprise", "max_attempts": 3, "queue": "analysis_priority", "attempt": 1,
        "snoozes": 0, "submitted_at": "2026-11-21T12:00:00Z", "wait": WAIT, "billed": False, "outdated": False,
        **NOTHING, "links": links(Service.ANALYSIS, UUID(JOB)),
    }  # fmt: skip
