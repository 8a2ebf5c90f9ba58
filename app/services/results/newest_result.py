"""The newest result of a repository, as lists of repositories show it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID

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
    def of(
        cls, policy: Policy, analysis_id: UUID, commit: str, completed_at: datetime, parser_version: str | None,
        summary: Mapping[str, Any],
    ) -> NewestResult:  # fmt: skip
        """Read a result from the columns of a statement that looks the newest one up."""
        return cls(analysis_id, commit, completed_at, parser_version != policy.parser_version, summary)
