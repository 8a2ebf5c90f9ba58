"""Everything that an accept must know, read in one message under the lock on the user."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.domain.periods import Period
from app.domain.queues import Service
from app.domain.repositories import Repository
from app.store.accounts.users import Payer, payer_of
from app.store.core.unit_of_work import Tx
from app.store.jobs.idempotency import Stored, stored_of
from app.store.jobs.quota import Sums
from app.store.repositories.codebases import Codebase, codebase_of


@dataclass(frozen=True, slots=True)
class ExistingAnalyses:
    """The existing analyses of a commit.

    codebase: None if no user has submitted the repository before; running: an unfinished job; completed: by this parser
    version; failed: the newest one, if it failed; sums: the user's quota, None if the quota does not matter; left: the
    user pays for the running job and has left it (look_each only).
    """

    codebase: Codebase | None = None
    running: UUID | None = None
    completed: UUID | None = None
    failed: UUID | None = None
    sums: Sums | None = None
    left: bool = False


@dataclass(frozen=True, slots=True)
class Look:
    """The state of a submission before its accept, read in one statement.

    key_locked: whether no other request with this key is being processed; stored: the answer to an earlier one.

    account: None if it no longer exists; now: the instant of the accept.
    If the key is not locked, or if there is a stored answer, nothing else is looked up or locked.
    """

    key_locked: bool
    stored: Stored | None
    account: Payer | None
    existing: ExistingAnalyses
    now: datetime


# The start of the statement is the same wherever it is asked, so it can stand twice: to join the function with the
# clock took the planner 0.1 ms of an accept.  The function is in sql/accept_lookup.sql.
_NOW = "coalesce(CAST(:now AS timestamptz), statement_timestamp())"
_LOOK = text(f"""
    SELECT found.*, {_NOW} AS now
      FROM accept_look(
               :user_id, :key, :host, :owner, :name, :commit_sha, :unique_key, :parser_version, {_NOW}) AS found""")

# One snapshot reads a commit's jobs, so that a job is seen either as running or as ended, and never as neither.
_LOOK_EACH = text("""
    SELECT c.id AS codebase_id, c.host, c.owner, c.name, c.is_private, c.last_viewed_at, running.job_id AS running,
           (SELECT a.id FROM analyses a
             WHERE a.codebase_id = c.id AND a.commit_sha = w.commit_sha AND a.parser_version = :parser_version
               AND a.status = 'completed' AND a.duplicate_of IS NULL) AS completed,
           (SELECT CASE WHEN a.status = 'failed' THEN a.id END FROM analyses a
             WHERE a.codebase_id = c.id AND a.commit_sha = w.commit_sha AND a.parser_version = :parser_version
             ORDER BY a.started_at DESC LIMIT 1) AS failed,
           EXISTS (SELECT FROM analysis_requests r
                    WHERE r.job_id = running.job_id AND r.role = 'payer' AND r.user_id = :user_id
                      AND r.cancelled_at IS NOT NULL) AS has_left
      FROM unnest(CAST(:hosts AS text[]), CAST(:owners AS text[]), CAST(:names AS text[]), CAST(:commits AS text[]),
                  CAST(:keys AS text[])) WITH ORDINALITY AS w (host, owner, name, commit_sha, unique_key, n)
      LEFT JOIN codebases c
        ON c.host = w.host AND lower(c.owner) = lower(w.owner) AND lower(c.name) = lower(w.name)
      LEFT JOIN LATERAL (SELECT CAST(m.task_id AS uuid) AS job_id FROM broker_message m
                          WHERE m.unique_key = w.unique_key) AS running ON true
     ORDER BY w.n""")


def look_each(
    tx: Tx, user_id: UUID, commits: Sequence[tuple[Repository, str]], parser_version: str
) -> list[ExistingAnalyses]:
    """Look many commits up, without keys, quota and locks.  The caller has locked the users row."""
    rows = tx.run(
        _LOOK_EACH,
        user_id=user_id,
        hosts=[repository.host for repository, _ in commits],
        owners=[repository.owner for repository, _ in commits],
        names=[repository.name for repository, _ in commits],
        commits=[commit for _, commit in commits],
        keys=[repository.unique_key(commit) for repository, commit in commits],
        parser_version=parser_version,
    )
    return [
        ExistingAnalyses(
            codebase_of(row) if row.codebase_id else None, row.running, row.completed, row.failed, left=row.has_left
        )
        for row in rows
    ]


def look(
    tx: Tx,
    user_id: UUID,
    key: str | None,
    repository: Repository,
    commit: str,
    parser_version: str,
    *,
    now: datetime | None = None,
) -> Look:
    """Lock the key and the user, and look up the plan and the commit.  now: None = by the database.

    Locks: the key's advisory lock, if it is free; then the users row.  Each part is read after the lock before it.
    """
    row = tx.run(
        _LOOK,
        user_id=user_id,
        key=key,
        host=repository.host,
        owner=repository.owner,
        name=repository.name,
        commit_sha=commit,
        unique_key=repository.unique_key(commit),
        parser_version=parser_version,
        now=now,
    ).one()
    codebase = codebase_of(row) if row.codebase_id else None
    sums = Sums(Period(row.period_start, row.period_end), row.used, row.reserved) if row.period_start else None
    return Look(
        key_locked=key is None or row.claimed,
        stored=stored_of(row.fingerprint, row.answer_status, row.answer_body),
        account=payer_of(row, Service.ANALYSIS) if row.user_id else None,
        existing=ExistingAnalyses(codebase, row.running, row.completed, row.failed, sums),
        now=row.now,
    )
