"""The newest result of a repository, as lists of repositories show it."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

from sqlalchemy import Row

from app.domain.jobs import Summary
from app.services.policy import Policy


@dataclass(frozen=True, slots=True)
class NewestResult:
    """A completed analysis.  outdated: made by another parser version."""

    id: UUID
    commit: str
    completed_at: datetime
    outdated: bool
    summary: Summary

    @classmethod
    def of(cls, row: Row[Any], policy: Policy) -> NewestResult:
        """row: analysis_id, commit_sha, completed_at, parser_version, summary."""
        outdated = row.parser_version != policy.parser_version
        return cls(row.analysis_id, row.commit_sha, row.completed_at, outdated, row.summary)
