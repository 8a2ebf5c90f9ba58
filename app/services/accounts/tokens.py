"""Create, find and revoke API tokens."""

from __future__ import annotations

import secrets
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID, uuid4

from app.errors import Forbidden, InvalidInput, Message, NotFound, TooManyTokens, Unauthenticated
from app.services.accounts import check_caller
from app.services.accounts.check_caller import TOKEN_PREFIX
from app.services.accounts.throttle import refuse_early
from app.store.accounts import credentials, users
from app.store.accounts.credentials import NamedToken, ValidToken
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import audit_log

SCOPES = ("read", "write", "operator", "operator:read")
#: Either lets a token read what operators see.
OPERATORS_READ = frozenset({"operator", "operator:read"})
PREFIX_LENGTH = 11
#: How many valid tokens one account may have.
MOST_TOKENS = 100


@dataclass(frozen=True, slots=True)
class Token:
    """A new token.  secret: shown once, only its hash is stored."""

    token_id: UUID
    secret: str
    prefix: str
    scopes: tuple[str, ...]
    expires_at: datetime | None = None


def add_token(
    uow: UnitOfWork,
    user_id: UUID,
    *,
    scopes: tuple[str, ...] = ("read", "write"),
    name: str = "",
    expires_at: datetime | None = None,
    made_by: str | None = None,
    actor: str | None = None,
    session: str | None = None,
    now: datetime,
) -> Token:
    """Create an API token.

    made_by: the secret of the creating token, which the new one does not outlive; session: of a browser's instead.

    actor: for the audit log; None: the user.

    Raises: InvalidInput for an unknown scope, TooManyTokens, Forbidden for a later expiry than that of made_by,
    Unauthenticated if made_by or the session has ended.
    Locks: users row, then the row of made_by.
    """
    _must_be_known(scopes)
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    with uow.begin() as tx:
        users.lock_row(tx, user_id)
        check_caller.check(tx, user_id, session, now=now)
        _must_have_room(tx, user_id, now=now)
        parent = _parent(tx, user_id, made_by, now=now) if made_by else None
        ends_at = _end(expires_at, parent)
        token = Token(uuid4(), secret, secret[:PREFIX_LENGTH], tuple(scopes), ends_at)
        credentials.add_token(
            tx, token_id=token.token_id, user_id=user_id, secret=secret, prefix=token.prefix, name=name,
            scopes=list(scopes), now=now, expires_at=ends_at, parent_id=parent.token_id if parent else None,
        )  # fmt: skip
        audit_log.add(
            tx, actor or str(user_id), "token.add", str(user_id), token=str(token.token_id), scopes=token.scopes
        )
    return token


def _must_be_known(scopes: Collection[str]) -> None:
    if unknown := set(scopes) - set(SCOPES):
        detail = f"expected one of {', '.join(SCOPES)}"
        raise InvalidInput(
            Message("unknown scope %(scope)s", scope=repr(min(unknown))),
            errors=[{"pointer": "/scopes", "detail": detail}],
        )


def _must_have_room(tx: Tx, user_id: UUID, *, now: datetime) -> None:
    if credentials.living(tx, user_id, now=now) >= MOST_TOKENS:
        raise TooManyTokens(Message("The account has %(most)s tokens; revoke one that is not needed", most=MOST_TOKENS))


def _parent(tx: Tx, user_id: UUID, secret: str, *, now: datetime) -> credentials.Parent:
    parent = credentials.hold_parent(tx, user_id, secret, now=now)
    if parent is None:  # it was revoked after the request had been admitted
        raise Unauthenticated("This token is unknown, revoked or expired")
    return parent


def _end(wanted: datetime | None, parent: credentials.Parent | None) -> datetime | None:
    bound = parent.expires_at if parent else None
    if bound is None or wanted is None:
        return wanted or bound
    if wanted > bound:
        raise Forbidden.outliving(bound)
    return wanted


def by_token(
    uow: UnitOfWork, secret: str, *, writes_per_minute: int | None = None, now: datetime
) -> credentials.TokenUser | None:
    """The user of a token, and its scopes.  writes_per_minute: given for a request that writes, which is counted.

    Raises: TooManyRequests.
    """
    with uow.once() as tx:
        found = credentials.use_token(tx, secret, writes_per_minute=writes_per_minute, now=now)
    if found is not None:
        refuse_early(found.wait, per_minute=writes_per_minute or 0)
    return found


def tokens_of(uow: UnitOfWork, user_id: UUID) -> list[ValidToken]:
    """The user's valid tokens, newest first, without their secrets."""
    with uow.begin() as tx:
        return credentials.tokens_of(tx, user_id)


def revoke_token(uow: UnitOfWork, user_id: UUID, token_id: UUID, *, now: datetime) -> None:
    """Revoke one of the user's tokens.  Raises: NotFound.  Locks: users row."""
    with uow.begin() as tx:
        users.lock_row(tx, user_id)
        if not credentials.revoke_token(tx, user_id, token_id, now=now):
            raise NotFound("No such token")
        audit_log.add(tx, str(user_id), "token.revoke", str(user_id), token=str(token_id))


def revoke_named(uow: UnitOfWork, name: str, *, actor: str, now: datetime) -> NamedToken:
    """Revoke a token of any account.  name: its id, its prefix, or the token itself.

    Raises: NotFound, InvalidInput if several tokens have this prefix.
    """
    with uow.begin() as tx:
        found = _named(tx, name)
    if len(found) > 1:
        raise InvalidInput(
            Message("Several tokens begin so; name one by its id: %(ids)s", ids=", ".join(str(row.id) for row in found))
        )
    if not found:
        raise NotFound("There is no such token, or it was revoked")
    token = found[0]
    with uow.begin() as tx:
        users.lock_row(tx, token.user_id)
        if not credentials.revoke_token(tx, token.user_id, token.id, now=now):
            raise NotFound("There is no such token, or it was revoked")
        audit_log.add(tx, actor, "token.revoke", str(token.user_id))
    return token


def may_grant(scopes: Collection[str]) -> set[str]:
    """The scopes that a token with these may give to a token that it makes."""
    return {*scopes, "operator:read"} if "operator" in scopes else set(scopes)


def _named(tx: Tx, name: str) -> Sequence[NamedToken]:
    try:
        token_id = UUID(name)
    except ValueError:
        return credentials.named(tx, prefix=name[:PREFIX_LENGTH])
    return credentials.named(tx, token_id=token_id)
