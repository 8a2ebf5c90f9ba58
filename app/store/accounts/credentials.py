"""API tokens, stored as SHA-256 hashes only."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

from sqlalchemy import text

from app.store.accounts.users import Account, account_of
from app.store.core.unit_of_work import Tx

_ADD_TOKEN = text("""
    INSERT INTO api_tokens (id, user_id, token_hash, prefix, name, scopes, created_at, expires_at, parent_id)
    VALUES (:id, :user_id, :token_hash, :prefix, :name, :scopes, :now, :expires_at, :parent_id)""")
_PARENT = text("""
    SELECT id, expires_at FROM api_tokens
     WHERE token_hash = :token_hash AND user_id = :user_id AND revoked_at IS NULL
       AND (expires_at IS NULL OR expires_at > :now)
       FOR SHARE""")
_LIVING = text("""
    SELECT count(*) FROM api_tokens
     WHERE user_id = :user_id AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > :now)""")
# in sql/accounts.sql; a crash may forget the use, and no read waits for a standby that is away
_CALLER = text("""
    SELECT c.* FROM caller_find(:token_hash, :now, :writes_per_minute) AS c,
                    set_config('synchronous_commit', 'off', true)""")
_TOKENS = text("""
    SELECT id, prefix, name, scopes, created_at, expires_at, last_used_at FROM api_tokens
     WHERE user_id = :user_id AND revoked_at IS NULL ORDER BY created_at DESC, id""")
_REVOKE = text("""
    UPDATE api_tokens SET revoked_at = :now WHERE id = :id AND user_id = :user_id AND revoked_at IS NULL""")
_REVOKE_ALL = text("UPDATE api_tokens SET revoked_at = :now WHERE user_id = :user_id AND revoked_at IS NULL")
_NAMED = text("""
    SELECT t.id, t.user_id, u.email, t.prefix, t.name FROM api_tokens t JOIN users u ON u.id = t.user_id
     WHERE (t.prefix = :prefix OR t.id = CAST(:id AS uuid)) AND t.revoked_at IS NULL ORDER BY t.id LIMIT 10""")


@dataclass(frozen=True, slots=True)
class Parent:
    """A token that creates another one."""

    token_id: UUID
    expires_at: datetime | None


@dataclass(frozen=True, slots=True)
class TokenUser:
    """The user of a token.

    wait: 0, or the seconds until the user may write again; remaining: writes that are left, None for a read.
    """

    account: Account
    scopes: frozenset[str]
    wait: float
    remaining: int | None


@dataclass(frozen=True, slots=True)
class ValidToken:
    """A token without its secret."""

    id: UUID
    prefix: str
    name: str
    scopes: Sequence[str]
    created_at: datetime
    expires_at: datetime | None
    last_used_at: datetime | None


@dataclass(frozen=True, slots=True)
class NamedToken:
    """A token with the account that it belongs to."""

    id: UUID
    user_id: UUID
    email: str | None
    prefix: str
    name: str


def hashed(secret: str) -> bytes:
    """SHA-256, which is enough for secrets of 256 random bits, because nobody can guess them offline."""
    return hashlib.sha256(secret.encode()).digest()


def add_token(
    tx: Tx,
    *,
    token_id: UUID,
    user_id: UUID,
    secret: str,
    prefix: str,
    name: str,
    scopes: list[str],
    now: datetime,
    expires_at: datetime | None,
    parent_id: UUID | None = None,
) -> None:
    """Store a token's hash.  parent_id: the token that created it, whose end and revocation also apply to it."""
    tx.run(
        _ADD_TOKEN,
        id=token_id,
        user_id=user_id,
        token_hash=hashed(secret),
        prefix=prefix,
        name=name,
        scopes=scopes,
        now=now,
        expires_at=expires_at,
        parent_id=parent_id,
    )


def hold_parent(tx: Tx, user_id: UUID, secret: str, *, now: datetime) -> Parent | None:
    """Read a valid token that creates another one; None if it has ended.

    Locks: its row, shared, after the users row: a revocation waits for the new token and then finds it.
    """
    row = tx.run(_PARENT, token_hash=hashed(secret), user_id=user_id, now=now).one_or_none()
    return Parent(row.id, row.expires_at) if row else None


def living(tx: Tx, user_id: UUID, *, now: datetime) -> int:
    """Count the user's tokens that have not ended.  The caller has locked the users row."""
    return int(tx.run(_LIVING, user_id=user_id, now=now).scalar_one())


def use_token(tx: Tx, secret: str, *, writes_per_minute: int | None = None, now: datetime) -> TokenUser | None:
    """The user of a token, in one statement; None for an unknown, expired or revoked token.

    writes_per_minute: take one write from the user's bucket.  Locks: as rates.take, and the token's row unless it was
    used within the last minute.
    """
    per_minute = None if writes_per_minute is None else float(writes_per_minute)
    row = tx.run(_CALLER, token_hash=hashed(secret), now=now, writes_per_minute=per_minute).one()
    return TokenUser(account_of(row), frozenset(row.scopes), row.wait, row.remaining) if row.user_id else None


def tokens_of(tx: Tx, user_id: UUID) -> list[ValidToken]:
    """The user's tokens, newest first."""
    return tx.run(_TOKENS, user_id=user_id).values(ValidToken)


def named(tx: Tx, *, prefix: str | None = None, token_id: UUID | None = None) -> list[NamedToken]:
    """Tokens that were not revoked, up to 10."""
    return tx.run(_NAMED, prefix=prefix, id=token_id).values(NamedToken)


def revoke_token(tx: Tx, user_id: UUID, token_id: UUID, *, now: datetime) -> bool:
    """Revoke a token and those that it created; False if the user has no such valid token.

    Locks: the rows of all of them.  The caller has locked the users row, so two revocations cannot meet.
    """
    return tx.run(_REVOKE, id=token_id, user_id=user_id, now=now).rowcount > 0


def revoke_all(tx: Tx, user_id: UUID, *, now: datetime) -> None:
    """Revoke every token of the user.  The caller has locked the users row."""
    tx.write(_REVOKE_ALL, user_id=user_id, now=now)
