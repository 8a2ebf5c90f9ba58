"""Repositories the service has seen."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Row, text

from app.domain.repositories import Repository
from app.store.unit_of_work import Tx


@dataclass(frozen=True, slots=True)
class Codebase:
    """A repository with its identity here."""

    codebase_id: UUID
    repository: Repository
    is_private: bool


_COLUMNS = "id, host, owner, name, is_private"
_FIND = text(f"""
    SELECT {_COLUMNS} FROM codebases
     WHERE host = :host AND lower(owner) = lower(:owner) AND lower(name) = lower(:name)""")
# DO UPDATE of nothing makes the row of a concurrent insert readable without a second statement
_ENSURE = text(f"""
    INSERT INTO codebases (id, host, owner, name, last_viewed_at, created_at)
    VALUES (:id, :host, :owner, :name, :viewed_at, :now)
    ON CONFLICT (host, lower(owner), lower(name))
    DO UPDATE SET last_viewed_at = greatest(codebases.last_viewed_at, excluded.last_viewed_at)
    RETURNING {_COLUMNS}""")
_VIEWED = text("""
    UPDATE codebases SET last_viewed_at = :now
     WHERE id = :id AND (last_viewed_at IS NULL OR last_viewed_at < :now - interval '1 minute')""")
_CHECKED = text("UPDATE codebases SET checked_at = :now WHERE id = :id")
# last_ended_at: the newest end of any analysis; failures: since the last completed one
_CANDIDATES = text("""
    SELECT c.id, c.host, c.owner, c.name, c.is_private, c.last_viewed_at, c.checked_at, a.last_ended_at, a.failures
      FROM codebases c
      CROSS JOIN LATERAL (
        SELECT max(completed_at) AS last_ended_at,
               count(*) FILTER (WHERE status = 'failed' AND completed_at > coalesce((
                   SELECT max(completed_at) FROM analyses
                    WHERE codebase_id = c.id AND status = 'completed'), '-infinity')) AS failures
          FROM analyses WHERE codebase_id = c.id) a
     WHERE NOT c.is_private AND c.last_viewed_at > :viewed_since
     ORDER BY c.last_viewed_at DESC""")


def find(tx: Tx, repository: Repository) -> Codebase | None:
    """Look a repository up, owner and name compared without case."""
    row = tx.run(_FIND, host=repository.host, owner=repository.owner, name=repository.name).one_or_none()
    return _codebase(row) if row else None


def ensure(tx: Tx, repository: Repository, *, viewed: bool, now: datetime) -> Codebase:
    """The repository's row, made when it is new.  viewed: a person asked, which keeps it on the schedule."""
    row = tx.run(
        _ENSURE,
        id=uuid4(),
        host=repository.host,
        owner=repository.owner,
        name=repository.name,
        viewed_at=now if viewed else None,
        now=now,
    ).one()
    return _codebase(row)


def viewed(tx: Tx, codebase_id: UUID, *, now: datetime) -> None:
    """Note that somebody looked at a result; at most one write a minute."""
    tx.run(_VIEWED, id=codebase_id, now=now)


def checked(tx: Tx, codebase_id: UUID, *, now: datetime) -> None:
    """Note that the schedule asked the host for its HEAD."""
    tx.run(_CHECKED, id=codebase_id, now=now)


def candidates(tx: Tx, *, viewed_since: datetime) -> list[tuple[Codebase, Row[Any]]]:
    """Public repositories somebody viewed since then, with what the schedule needs to know."""
    rows = tx.run(_CANDIDATES, viewed_since=viewed_since).all()
    return [(_codebase(row), row) for row in rows]


def _codebase(row: Row[Any]) -> Codebase:
    return Codebase(row.id, Repository(row.host, row.owner, row.name), row.is_private)
