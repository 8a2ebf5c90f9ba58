"""The records of analyses as results; records.py starts and ends them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any, NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.core.unit_of_work import Tx
from app.store.repositories.branch_commits import newest as newest_of

_COLUMNS = """
    id, codebase_id, commit_sha, status, parser_version, attempt, started_at, completed_at, error_code,
    error_message, error_retryable, total_tests, summary, progress,
    coalesce((SELECT b.ordered_at FROM branch_commits b
               WHERE b.codebase_id = analyses.codebase_id AND b.commit_sha = analyses.commit_sha AND b.is_member),
             committed_at, completed_at) AS ordered_at
"""
_FIND = text(f"SELECT {_COLUMNS} FROM analyses WHERE id = :id")
_COMPLETED = text(f"""
    SELECT {_COLUMNS} FROM analyses
     WHERE codebase_id = :codebase_id AND commit_sha = :commit_sha AND status = 'completed' AND duplicate_of IS NULL
       AND (CAST(:parser_version AS text) IS NULL OR parser_version = :parser_version)
     ORDER BY completed_at DESC LIMIT 1""")
_NEWEST = text(f"""
    SELECT n.id FROM codebases c CROSS JOIN LATERAL ({newest_of("c.id", most=":most")}) AS n
     WHERE c.id = :codebase_id ORDER BY n.ordered_at DESC, n.completed_at DESC""")
_LOCK_SHARED = text("SELECT 1 FROM analyses WHERE id = :id FOR KEY SHARE")
# Another result of the commit may have come with an account from another cell since this one was accepted.
_COMPLETE = text("""
    UPDATE analyses a SET status = 'completed', completed_at = :now, total_tests = :total_tests,
           committed_at = :committed_at,
           summary = CAST(:summary AS jsonb), progress = NULL, duplicate_of = (
               SELECT o.id FROM analyses o
                WHERE o.codebase_id = a.codebase_id AND o.commit_sha = a.commit_sha
                  AND o.parser_version = a.parser_version AND o.status = 'completed' AND o.duplicate_of IS NULL)
     WHERE a.id = :id AND a.status = 'running'""")


class AnalysisRow(NamedTuple):
    """The record of an analysis.  ordered_at: the place of its commit (docs/adr/0067)."""

    id: UUID
    codebase_id: UUID
    commit_sha: str
    status: str
    parser_version: str
    attempt: int
    started_at: datetime
    completed_at: datetime | None
    error_code: str | None
    error_message: str | None
    error_retryable: bool | None
    total_tests: int | None
    summary: dict[str, Any] | None
    progress: dict[str, Any] | None
    ordered_at: datetime


def find(tx: Tx, analysis_id: UUID) -> AnalysisRow | None:
    """The record of a job; None until a worker has started it."""
    return tx.run(_FIND, id=analysis_id).value_or_none(AnalysisRow)


def completed(tx: Tx, codebase_id: UUID, commit: str, parser_version: str | None) -> AnalysisRow | None:
    """The completed analysis of a commit by this parser version (None: by any, newest first)."""
    return tx.run(_COMPLETED, codebase_id=codebase_id, commit_sha=commit, parser_version=parser_version).value_or_none(
        AnalysisRow
    )


def newest(tx: Tx, codebase_id: UUID, *, most: int = 1) -> list[UUID]:
    """The newest results of a repository, as `branch_commits.newest` says; newest commit first."""
    return list(tx.run(_NEWEST, codebase_id=codebase_id, most=most).scalars())


def lock_shared(tx: Tx, analysis_id: UUID) -> bool:
    """Keep a record from being pruned before this transaction ends; False if it no longer exists.

    Locks: the record's key only, so that only pruning waits for it.
    """
    return tx.run(_LOCK_SHARED, id=analysis_id).one_or_none() is not None


def complete(
    tx: Tx,
    analysis_id: UUID,
    *,
    total_tests: int,
    summary: Mapping[str, Any],
    committed_at: datetime | None = None,
    now: datetime,
) -> bool:
    """End the record with its totals; False if it had already ended.  Raises IntegrityError on I7's index.

    committed_at: when its commit was made, None if Git does not say.
    """
    totals = {"total_tests": total_tests, "summary": json.dumps(summary), "committed_at": committed_at}
    return tx.run(_COMPLETE, id=analysis_id, now=now, **totals).rowcount > 0
