"""The repositories that the service knows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, NamedTuple
from uuid import UUID, uuid4

from sqlalchemy import Row, text

from app.domain.repositories import Repository
from app.store.core.unit_of_work import Tx

#: Host, owner and name, the last two in lower case.
AddressKey = tuple[str, str, str]
#: Where a walk through all repositories begins.
_FIRST = {"last_viewed_at": "infinity", "id": UUID(int=0)}
#: A view is noted at most this often.
FRESH = timedelta(minutes=1)


@dataclass(frozen=True, slots=True)
class Codebase:
    """A repository with its id here."""

    codebase_id: UUID
    repository: Repository
    is_private: bool
    last_viewed_at: datetime | None = None


_COLUMNS = "id AS codebase_id, host, owner, name, is_private, last_viewed_at"
_FIND = text(f"""
    SELECT {_COLUMNS} FROM codebases
     WHERE host = :host AND lower(owner) = lower(:owner) AND lower(name) = lower(:name)""")
_GET = text(f"SELECT {_COLUMNS} FROM codebases WHERE id = :id")
_ADD = text("""
    INSERT INTO codebases (id, host, owner, name, created_at) VALUES (:id, :host, :owner, :name, :now)
    ON CONFLICT (host, lower(owner), lower(name)) DO NOTHING""")
_FIND_EACH = text(f"""
    SELECT {_COLUMNS} FROM unnest(CAST(:hosts AS text[]), CAST(:owners AS text[]), CAST(:names AS text[]))
                           AS asked (asked_host, asked_owner, asked_name)
      JOIN codebases ON host = asked_host AND lower(owner) = lower(asked_owner) AND lower(name) = lower(asked_name)""")
# Repositories are locked in the order of their addresses, as they are inserted.
_ASKED_FOR_EACH = text("""
    WITH asked AS (
        SELECT c.id, a.branch
          FROM unnest(CAST(:ids AS uuid[]), CAST(:branches AS text[])) AS a (id, branch) JOIN codebases c ON c.id = a.id
         WHERE c.last_viewed_at IS NULL OR c.last_viewed_at < :now - CAST(:fresh AS interval)
            OR a.branch IS DISTINCT FROM coalesce(c.default_branch, '') AND a.branch <> ''
         ORDER BY c.host, lower(c.owner), lower(c.name) FOR NO KEY UPDATE OF c)
    UPDATE codebases c
       SET default_branch = coalesce(nullif(asked.branch, ''), c.default_branch),
           last_viewed_at = CASE WHEN c.last_viewed_at >= :now - CAST(:fresh AS interval) THEN c.last_viewed_at
                                 ELSE :now END
      FROM asked WHERE c.id = asked.id""")
# in sql/notes.sql
_VIEWED = text("SELECT note_view(:id, :now, :fresh), set_config('synchronous_commit', 'off', true)")
_DEFAULT_BRANCH = text("""
    UPDATE codebases SET default_branch = :name WHERE id = :id AND default_branch IS DISTINCT FROM :name""")
_CHECKED = text("UPDATE codebases SET checked_at = :now WHERE id = :id")
# Each host is the next one in the index of addresses, so that the cost grows with the hosts, not with the repositories.
_HOSTS = text("""
    WITH RECURSIVE hosts AS (
        (SELECT host FROM codebases ORDER BY host LIMIT 1)
        UNION ALL
        SELECT (SELECT c.host FROM codebases c WHERE c.host > h.host ORDER BY c.host LIMIT 1) FROM hosts h
         WHERE h.host IS NOT NULL)
    SELECT host FROM hosts WHERE host IS NOT NULL""")
# last_viewed_at and id: of the last row of the previous batch
_VIEWED_BEFORE = text(f"""
    SELECT {_COLUMNS}, checked_at FROM codebases
     WHERE host = :host AND NOT is_private AND last_viewed_at > :viewed_since
       AND (last_viewed_at, id) < (CAST(:last_viewed_at AS timestamptz), CAST(:id AS uuid))
     ORDER BY last_viewed_at DESC, id DESC LIMIT :most""")
# last_ended_at: the newest end of any analysis; failures: since the last completed one, counted up to :most
_ENDS = text("""
    SELECT c.id AS codebase_id,
           (SELECT completed_at FROM analyses WHERE codebase_id = c.id AND completed_at IS NOT NULL
             ORDER BY completed_at DESC LIMIT 1) AS last_ended_at,
           (SELECT coalesce(min(n) FILTER (WHERE status = 'completed') - 1, count(*))
              FROM (SELECT status, row_number() OVER (ORDER BY completed_at DESC) AS n FROM analyses
                     WHERE codebase_id = c.id AND completed_at IS NOT NULL AND status IN ('completed', 'failed')
                     ORDER BY completed_at DESC LIMIT :most) newest) AS failures
      FROM unnest(CAST(:ids AS uuid[])) AS c (id)""")


class EndsRow(NamedTuple):
    """How analyses of a repository ended.  last_ended_at: None if none has; failures: since the last completed one."""

    codebase_id: UUID
    last_ended_at: datetime | None
    failures: int


def find(tx: Tx, repository: Repository) -> Codebase | None:
    """Look a repository up; case does not matter in owner and name."""
    row = tx.run(_FIND, host=repository.host, owner=repository.owner, name=repository.name).one_or_none()
    return codebase_of(row) if row else None


def get(tx: Tx, codebase_id: UUID) -> Codebase | None:
    """A repository by its id."""
    row = tx.run(_GET, id=codebase_id).one_or_none()
    return codebase_of(row) if row else None


def add(tx: Tx, repository: Repository, *, now: datetime) -> Codebase:
    """Add a repository that did not exist; if another transaction has added it meanwhile, return that row."""
    key = {"host": repository.host, "owner": repository.owner, "name": repository.name}
    tx.write(_ADD, id=uuid4(), now=now, **key)
    return codebase_of(tx.run(_FIND, **key).one())


def add_each(tx: Tx, repositories: Iterable[Repository], *, now: datetime) -> dict[AddressKey, Codebase]:
    """Add many repositories that are missing.  Returns: by `address_of`."""
    by_address = {address_of(repository): repository for repository in repositories}
    if not by_address:
        return {}
    ordered = [by_address[address] for address in sorted(by_address)]
    rows = [{"id": uuid4(), "host": one.host, "owner": one.owner, "name": one.name, "now": now} for one in ordered]
    tx.write_each(_ADD, rows)
    of = {"hosts": [one.host for one in ordered], "owners": [one.owner for one in ordered]}
    found = [codebase_of(row) for row in tx.run(_FIND_EACH, names=[one.name for one in ordered], **of)]
    return {address_of(codebase.repository): codebase for codebase in found}


def address_of(repository: Repository) -> AddressKey:
    """Compose the key by which a repository is known, whatever the case."""
    return repository.host, repository.owner.lower(), repository.name.lower()


def asked_for_each(tx: Tx, codebases: Sequence[Codebase], branches: Sequence[str | None], *, now: datetime) -> None:
    """Note that many repositories were asked for, and their default branches.

    branches: None where HEAD was not looked up.

    Locks: those rows that change, in the order of their addresses.
    """
    by_id = {str(codebase.codebase_id): "" for codebase in codebases}
    for codebase, branch in zip(codebases, branches, strict=True):
        by_id[str(codebase.codebase_id)] = branch or by_id[str(codebase.codebase_id)]
    tx.write(_ASKED_FOR_EACH, ids=list(by_id), branches=list(by_id.values()), now=now, fresh=FRESH)


def asked_for(tx: Tx, codebase: Codebase, *, now: datetime) -> None:
    """Note that a person submitted it, which keeps it on the schedule.

    Locks: nothing if the row was viewed within the last minute, so that accepts of a popular repository do not wait for
    each other.
    """
    if codebase.last_viewed_at is None or codebase.last_viewed_at < now - FRESH:
        viewed(tx, codebase.codebase_id, now=now)


def has_default_branch(tx: Tx, codebase_id: UUID, name: str) -> None:
    """Note the branch of HEAD.  Locks: the row, if the branch has changed."""
    tx.write(_DEFAULT_BRANCH, id=codebase_id, name=name)


def viewed(tx: Tx, codebase_id: UUID, *, now: datetime) -> None:
    """Note that somebody viewed a result; at most one write a minute.

    In a transaction that only reads: its commit waits neither for the disk nor for a standby.
    """
    tx.write(_VIEWED, id=codebase_id, now=now, fresh=FRESH)


def checked(tx: Tx, codebase_id: UUID, *, now: datetime) -> None:
    """Note that the schedule asked the host for its HEAD."""
    tx.write(_CHECKED, id=codebase_id, now=now)


def hosts(tx: Tx) -> list[str]:
    """The hosts of all repositories, in order."""
    return list(tx.run(_HOSTS).scalars())


def viewed_before(
    tx: Tx, host: str, last: Codebase | None, *, viewed_since: datetime, most: int
) -> list[tuple[Codebase, datetime | None]]:
    """The next public repositories of a host that were viewed since then, the last view first, with their last check.

    last: the last one of the previous batch.
    """
    after = {"last_viewed_at": last.last_viewed_at, "id": last.codebase_id} if last else _FIRST
    rows = tx.run(_VIEWED_BEFORE, host=host, viewed_since=viewed_since, most=most, **after)
    return [(codebase_of(row), row.checked_at) for row in rows]


def ends(tx: Tx, ids: Iterable[UUID], *, most: int) -> dict[UUID, EndsRow]:
    """Count how the analyses of repositories ended, by the repositories' ids.  Failures are counted up to `most`."""
    return {row.codebase_id: row for row in tx.run(_ENDS, ids=[str(one) for one in ids], most=most).values(EndsRow)}


def codebase_of(row: Row[Any]) -> Codebase:
    """Read a repository from a row with its columns."""
    return Codebase(row.codebase_id, Repository(row.host, row.owner, row.name), row.is_private, row.last_viewed_at)
