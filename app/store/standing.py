"""What is there already of a commit that somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy import text

from app.domain.repositories import Repository
from app.store.codebases import Codebase, codebase_of
from app.store.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class Standing:
    """Jobs of a commit.  running: unfinished; completed: by this parser version; failed: the newest, if that failed."""

    codebase: Codebase | None
    running: UUID | None = None
    completed: UUID | None = None
    failed: UUID | None = None


# One statement, so one snapshot: a job is either still running or ended, and never neither.
_STANDING = text("""
    SELECT c.id, c.host, c.owner, c.name, c.is_private, c.last_viewed_at,
           (SELECT task_id::uuid FROM kombu_message WHERE unique_key = :unique_key) AS running,
           (SELECT id FROM analyses
             WHERE codebase_id = c.id AND commit_sha = :commit_sha AND parser_version = :parser_version
               AND status = 'completed') AS completed,
           (SELECT CASE WHEN status = 'failed' THEN id END FROM analyses
             WHERE codebase_id = c.id AND commit_sha = :commit_sha AND parser_version = :parser_version
             ORDER BY started_at DESC LIMIT 1) AS failed
      FROM codebases c
     WHERE c.host = :host AND lower(c.owner) = lower(:owner) AND lower(c.name) = lower(:name)""")


def standing(tx: Tx, repository: Repository, commit: str, parser_version: str) -> Standing:
    """Look a commit up.  A repository that nobody asked for before has no jobs."""
    row = tx.run(
        _STANDING,
        host=repository.host,
        owner=repository.owner,
        name=repository.name,
        unique_key=repository.unique_key(commit),
        commit_sha=commit,
        parser_version=parser_version,
    ).one_or_none()
    return Standing(codebase_of(row), row.running, row.completed, row.failed) if row else Standing(None)
