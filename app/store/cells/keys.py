"""Whose a key is, in one cell: asked when the directory has not seen the key yet."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple
from uuid import UUID

from sqlalchemy import text

from app.store.accounts.credentials import hashed
from app.store.core.unit_of_work import Tx

# each by the index of its hash; whether it is still good is decided where the request is served
_OWNER = text("""
    SELECT k.user_id, u.email
      FROM (SELECT user_id FROM api_tokens WHERE token_hash = :hash
            UNION ALL SELECT user_id FROM sessions WHERE id_hash = :hash
            UNION ALL SELECT user_id FROM sign_in_links WHERE token_hash = :hash
            UNION ALL SELECT user_id FROM one_time_secrets WHERE secret_hash = :hash AND user_id IS NOT NULL) AS k
      JOIN users u ON u.id = k.user_id
     WHERE u.email IS NOT NULL LIMIT 1""")
_OF_GITHUB = text("""
    SELECT l.user_id, u.email FROM github_links l JOIN users u ON u.id = l.user_id
     WHERE l.github_id = :github_id AND u.email IS NOT NULL""")
_PERSON = text("SELECT id AS user_id, email FROM users WHERE lower(email) = lower(:email)")
_PERSON_OF = text("SELECT id AS user_id, email FROM users WHERE id = :user_id AND email IS NOT NULL")
_PEOPLE = text("""
    SELECT id AS user_id, email FROM users WHERE email IS NOT NULL AND id > :after ORDER BY id LIMIT :most""")
_IS_HERE = text("SELECT EXISTS (SELECT FROM users WHERE id = :user_id)")


#: Finds the person of a cell whose something is.
Whose = Callable[[Tx], "PersonRow | None"]


class PersonRow(NamedTuple):
    """A person of this cell."""

    user_id: UUID
    email: str


def github(github_id: int) -> bytes:
    """The key of a link to an account of GitHub."""
    return hashed(f"github {github_id}")


def owner(tx: Tx, key: bytes) -> PersonRow | None:
    """Whose token, session or link has this hash."""
    return tx.run(_OWNER, hash=key).value_or_none(PersonRow)


def owner_of_github(tx: Tx, github_id: int) -> PersonRow | None:
    """Whose account is linked to this account of GitHub."""
    return tx.run(_OF_GITHUB, github_id=github_id).value_or_none(PersonRow)


def person(tx: Tx, email: str) -> PersonRow | None:
    """Who has this e-mail address."""
    return tx.run(_PERSON, email=email).value_or_none(PersonRow)


def people(tx: Tx, *, after: UUID, most: int) -> list[PersonRow]:
    """The people of this cell by their ids, beginning behind one."""
    return tx.run(_PEOPLE, after=after, most=most).values(PersonRow)


def person_of(tx: Tx, user_id: UUID) -> PersonRow | None:
    """The person with this id."""
    return tx.run(_PERSON_OF, user_id=user_id).value_or_none(PersonRow)


def is_here(tx: Tx, user_id: UUID) -> bool:
    """Whether the account lives in this cell."""
    return bool(tx.run(_IS_HERE, user_id=user_id).scalar_one())
