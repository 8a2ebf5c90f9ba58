"""The shape of an invariant."""

from __future__ import annotations

from dataclasses import dataclass

from app.store.operations.dead_letters import UUID_PATTERN


@dataclass(frozen=True, slots=True)
class Invariant:
    """A rule that holds in every snapshot of the database.

    broken: a SELECT of the rows that violate it, valid at any moment; `:since` (null: all) limits it in time.

    Its columns are ids and numbers that say what is wrong, never secrets.  One statement sees one snapshot, and each
    step of a job is one commit (docs/adr/0002), so a job between two steps is consistent.
    """

    number: str
    title: str
    sentence: str
    broken: str


def job_of(table: str) -> str:
    """The job id of a row's task id, null if it is not a job's.

    Each task id is cast, so that the keys of jobs are usable.
    """
    return f"CASE WHEN {table}.task_id ~ '{UUID_PATTERN}' THEN CAST({table}.task_id AS uuid) END"
