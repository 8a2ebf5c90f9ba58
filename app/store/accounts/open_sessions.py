"""Sessions of browsers and links to sign in, stored as SHA-256 hashes only."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from uuid import UUID

from sqlalchemy import text

from app.store.accounts.credentials import hashed
from app.store.core.unit_of_work import Tx

_ADD_SESSION = text("""
    INSERT INTO sessions (id_hash, user_id, created_at, expires_at, proved_at, proved_by)
    VALUES (:id_hash, :user_id, :now, :expires_at, :now, :by)""")
_RENEW = text("""
    UPDATE sessions SET id_hash = :new, proved_at = :now, proved_by = :by, last_used_at = :now
     WHERE id_hash = :old AND user_id = :user_id""")
_PROOF = text("SELECT proved_at, proved_by FROM sessions WHERE id_hash = :id_hash")
_OPEN = text("SELECT 1 FROM sessions WHERE id_hash = :id_hash AND user_id = :user_id")
_SESSION = text("""
    SELECT user_id, coalesce(last_used_at, created_at) < :now - interval '1 minute' AS is_stale
      FROM sessions
     WHERE id_hash = :id_hash AND expires_at > :now AND coalesce(last_used_at, created_at) > :used_since""")
# in sql/notes.sql
_USED = text("SELECT note_session(:id_hash, :now)")
_SESSIONS = text("""
    SELECT id, created_at, last_used_at, expires_at, id_hash = :own AS is_own FROM sessions
     WHERE user_id = :user_id AND expires_at > :now AND coalesce(last_used_at, created_at) > :used_since
     ORDER BY created_at DESC, id""")
_END_SESSION = text("DELETE FROM sessions WHERE id_hash = :id_hash")
_END_NAMED = text("DELETE FROM sessions WHERE id = :id AND user_id = :user_id")
_END_OTHERS = text("DELETE FROM sessions WHERE user_id = :user_id AND id_hash <> :own")
_DROP_LINKS = text("DELETE FROM sign_in_links WHERE user_id = :user_id")
_ADD_LINK = text("""
    INSERT INTO sign_in_links (token_hash, user_id, expires_at) VALUES (:token_hash, :user_id, :expires_at)""")
_LINK_OWNER = text("SELECT user_id FROM sign_in_links WHERE token_hash = :token_hash AND expires_at > :now")
_USE_LINK = text("DELETE FROM sign_in_links WHERE token_hash = :token_hash AND expires_at > :now RETURNING user_id")
_PRUNE = (
    text("DELETE FROM sessions WHERE expires_at < :now"),
    text("DELETE FROM sign_in_links WHERE expires_at < :now"),
)


class Way(StrEnum):
    """How somebody proved who they are, besides a passkey, which is named by its id."""

    PASSWORD = "password"  # noqa: S105 - the name of a way
    GITHUB = "github"
    LINK = "link"


@dataclass(frozen=True, slots=True)
class Proof:
    """When and how the person of a session last proved who they are.

    at, by: None for sessions of the previous release; by: a Way, or the id of a passkey.
    """

    at: datetime | None
    by: str | None


@dataclass(frozen=True, slots=True)
class OpenSession:
    """A signed-in browser.  is_own: the one that asks."""

    id: UUID
    created_at: datetime
    last_used_at: datetime | None
    expires_at: datetime
    is_own: bool


def add_session(tx: Tx, user_id: UUID, secret: str, *, by: str, now: datetime, expires_at: datetime) -> None:
    """Open a session.  by: as in Proof."""
    tx.run(_ADD_SESSION, id_hash=hashed(secret), user_id=user_id, by=str(by), now=now, expires_at=expires_at)


def renew_session(tx: Tx, user_id: UUID, old: str, new: str, *, by: str, now: datetime) -> bool:
    """Note a proof and give the session another secret, so that a copy of the cookie is worth nothing.

    by: as in Proof.  Returns: False if the session has ended.  Locks: its row, after the users row.
    """
    given = {"old": hashed(old), "new": hashed(new), "by": str(by)}
    return tx.run(_RENEW, user_id=user_id, now=now, **given).rowcount > 0


def proof_of(tx: Tx, secret: str) -> Proof | None:
    """How and when the person of a session last proved who they are; None if the session has ended."""
    row = tx.run(_PROOF, id_hash=hashed(secret)).one_or_none()
    return Proof(row.proved_at, row.proved_by) if row else None


def is_open(tx: Tx, user_id: UUID, secret: str) -> bool:
    """Whether nobody has ended this session of the user."""
    return tx.run(_OPEN, id_hash=hashed(secret), user_id=user_id).one_or_none() is not None


def session_user(tx: Tx, secret: str, *, used_since: datetime, now: datetime) -> UUID | None:
    """The user of a session, whose use is noted.  Locks: its row, at most once a minute.

    used_since: a session that was not used since then has ended.
    """
    own = hashed(secret)
    row = tx.run(_SESSION, id_hash=own, used_since=used_since, now=now).one_or_none()
    if row is None:
        return None
    if row.is_stale:  # a crash of the server may forget the use
        tx.relax()
        tx.write(_USED, id_hash=own, now=now)
    found: UUID = row.user_id
    return found


def sessions_of(tx: Tx, user_id: UUID, own: str, *, used_since: datetime, now: datetime) -> list[OpenSession]:
    """The user's sessions, newest first.

    own: the secret of the one that asks; used_since: as in session_user.
    """
    return tx.run(_SESSIONS, user_id=user_id, own=hashed(own), used_since=used_since, now=now).values(OpenSession)


def end_session(tx: Tx, secret: str) -> bool:
    """Close a session; False if there is none."""
    return tx.run(_END_SESSION, id_hash=hashed(secret)).rowcount > 0


def end_named_session(tx: Tx, user_id: UUID, session_id: UUID) -> bool:
    """Close a session of this user by its id; False if the user has no such one."""
    return tx.run(_END_NAMED, id=session_id, user_id=user_id).rowcount > 0


def end_others(tx: Tx, user_id: UUID, own: str | None) -> None:
    """Close the user's sessions, except that with the secret `own`, and void their sign-in links."""
    tx.write(_END_OTHERS, user_id=user_id, own=hashed(own or ""))
    tx.write(_DROP_LINKS, user_id=user_id)


def add_link(tx: Tx, user_id: UUID, secret: str, *, expires_at: datetime) -> None:
    """Store a sign-in link."""
    tx.run(_ADD_LINK, token_hash=hashed(secret), user_id=user_id, expires_at=expires_at)


def link_owner(tx: Tx, secret: str, *, now: datetime) -> UUID | None:
    """Find the user of a valid sign-in link; it is not used up."""
    found: UUID | None = tx.run(_LINK_OWNER, token_hash=hashed(secret), now=now).scalar_one_or_none()
    return found


def use_link(tx: Tx, secret: str, *, now: datetime) -> UUID | None:
    """Use up a sign-in link; it works once."""
    found: UUID | None = tx.run(_USE_LINK, token_hash=hashed(secret), now=now).scalar_one_or_none()
    return found


def prune(tx: Tx, *, now: datetime) -> int:
    """Delete expired rows.  Returns: how many."""
    return sum(tx.run(statement, now=now).rowcount for statement in _PRUNE)
