"""Everything that an accept must know, read in one message under the lock on the user."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.domain.periods import Period
from app.domain.repositories import Repository
from app.store.codebases import Codebase, codebase_of
from app.store.idempotency import Stored, stored_of
from app.store.quota import Sums
from app.store.unit_of_work import Tx
from app.store.users import Account, account_of


@dataclass(frozen=True, slots=True)
class ExistingAnalyses:
    """The existing analyses of a commit.

    codebase: None if no user has submitted the repository before; running: an unfinished job; completed: by this parser
    version; failed: the newest one, if it failed; sums: the user's quota, None if the quota does not matter.
    """

    codebase: Codebase | None = None
    running: UUID | None = None
    completed: UUID | None = None
    failed: UUID | None = None
    sums: Sums | None = None


@dataclass(frozen=True, slots=True)
class Look:
    """key_locked: whether no other request with this key is being processed; stored: the answer to an earlier one.

    account: None if it no longer exists; now: the instant of the accept.
    If the key is not locked, or if there is a stored answer, nothing else is looked up or locked.
    """

    key_locked: bool
    stored: Stored | None
    account: Account | None
    existing: ExistingAnalyses
    now: datetime


# The start of the statement is the same wherever it is asked, so it can stand twice: to join the function with the
# clock took the planner 0.1 ms of an accept.  The function is in sql/accept_lookup.sql.
_NOW = "coalesce(CAST(:now AS timestamptz), statement_timestamp())"
_LOOK = text(f"""
    SELECT found.*, {_NOW} AS now
      FROM accept_look(
               :user_id, :key, :host, :owner, :name, :commit_sha, :unique_key, :parser_version, {_NOW}) AS found""")


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
        account=account_of(row) if row.user_id else None,
        existing=ExistingAnalyses(codebase, row.running, row.completed, row.failed, sums),
        now=row.now,
    )
