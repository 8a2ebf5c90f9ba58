"""Accounts: users, tokens, sign-in links and sessions."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any
from uuid import UUID, uuid4

from app.domain.plans import Tier
from app.domain.queues import Service, select_queue
from app.errors import Conflict, Forbidden, InvalidInput, NotFound, TooManyTokens, Unauthenticated
from app.services import carry, end
from app.services.policy import Policy
from app.services.throttle import refuse_early
from app.store import accounts, audit_log, messages, users
from app.store.unit_of_work import Tx, UnitOfWork, retried
from app.store.users import Account

SCOPES = ("read", "write", "operator")
TOKEN_PREFIX = "fl_"  # noqa: S105 - a prefix, not a password
#: Living ones, of one account.
MOST_TOKENS = 100
SESSION_LIFE, LINK_LIFE = timedelta(days=14), timedelta(days=1)

_EMAIL = re.compile(r"[^@\s]{1,64}@[^@\s]{1,190}")


@dataclass(frozen=True, slots=True)
class Token:
    """A new token.  secret: shown once, only its hash is kept."""

    token_id: UUID
    secret: str
    prefix: str
    scopes: tuple[str, ...]
    expires_at: datetime | None = None


def add_user(
    uow: UnitOfWork, email: str, *, tier: Tier, is_operator: bool = False, actor: str, now: datetime
) -> Account:
    """Make a person's account.  Raises: InvalidInput, Conflict when the address is taken."""
    if not _EMAIL.fullmatch(email):
        raise InvalidInput(
            f"{email!r} is no e-mail address", errors=[{"pointer": "/email", "detail": "allowed is a@b"}]
        )
    with uow.begin() as tx:
        user_id = uuid4()
        if not users.add(tx, user_id, email=email, is_operator=is_operator, now=now):
            raise Conflict(f"There is an account for {email} already")
        users.set_tier(tx, user_id, tier, now=now)
        audit_log.add(tx, actor, "user.add", str(user_id), tier=tier.value, operator=is_operator)
        account = users.find(tx, user_id)
    if account is None:
        raise RuntimeError("the account vanished in its own transaction")
    return account


def find_person(uow: UnitOfWork, email: str) -> Account:
    """Raises: NotFound."""
    with uow.begin() as tx:
        account = users.find_by_email(tx, email)
    if account is None:
        raise NotFound(f"There is no account for {email}")
    return account


def find(uow: UnitOfWork, user_id: UUID) -> Account:
    """Raises: NotFound."""
    with uow.begin() as tx:
        account = users.find(tx, user_id)
    if account is None:
        raise NotFound("No such user")
    return account


@retried
def change_tier(uow: UnitOfWork, user_id: UUID, tier: Tier, policy: Policy, *, actor: str, now: datetime) -> Account:
    """Put a user on another tier; their jobs wait in its queue from now on, and for its slots.  Raises: NotFound."""
    with uow.begin() as tx:
        before = users.lock(tx, user_id)
        if before is None:
            raise NotFound("No such user")
        users.set_tier(tx, user_id, tier, now=now)
        audit_log.add(tx, actor, "user.tier", str(user_id), before=before.tier.value, after=tier.value)
        after = users.find(tx, user_id) or before
        for service in Service:
            old, new = select_queue(service, before.tier), select_queue(service, after.tier)
            if old != new:
                messages.move(tx, user_id, old, new)
        end.fill(tx, after, policy.fairness)
        carry.settle_joined(tx, user_id, policy)
        return after


def anonymous(uow: UnitOfWork, address: str, secret: str, *, now: datetime) -> Account:
    """The pseudonymous account of a client address: a keyed hash, from which the address cannot be read back.

    An IPv6 client is its /64, which one household holds whole.
    """
    user_id = anonymous_id(address, secret)
    with uow.begin() as tx:
        account = users.find(tx, user_id)
        if account is None:
            users.add(tx, user_id, kind="anonymous", email=None, now=now)
            account = users.find(tx, user_id)
    if account is None:
        raise RuntimeError("the account vanished after its insert")
    return account


def anonymous_id(address: str, secret: str) -> UUID:
    """The id of that account, whether or not it is there."""
    digest = hmac.new(secret.encode(), _household(address).encode(), hashlib.sha256).digest()
    return UUID(bytes=digest[:16], version=4)


def _household(address: str) -> str:
    """Name the client of an address; an IPv6 client is its /64."""
    try:
        parsed = ipaddress.ip_address(address)
    except ValueError:  # a server on a Unix socket knows no address: all such clients are one
        return "unknown"
    # a server that listens on :: sees IPv4 clients as ::ffff:a.b.c.d, which all share one /64
    parsed = getattr(parsed, "ipv4_mapped", None) or parsed
    return str(ipaddress.ip_network(f"{parsed}/64", strict=False)) if parsed.version == 6 else str(parsed)


def add_token(
    uow: UnitOfWork,
    user_id: UUID,
    *,
    scopes: tuple[str, ...] = ("read", "write"),
    name: str = "",
    expires_at: datetime | None = None,
    made_by: str | None = None,
    now: datetime,
) -> Token:
    """Make an API token.  made_by: the secret of the token that asks; the new one does not outlive it.

    Raises: InvalidInput for an unknown scope, TooManyTokens, Forbidden for a later end than that of made_by,
    Unauthenticated when made_by has ended.
    Locks: users row, then the row of made_by.
    """
    if unknown := set(scopes) - set(SCOPES):
        detail = f"allowed are {', '.join(SCOPES)}"
        raise InvalidInput(f"unknown scope {min(unknown)!r}", errors=[{"pointer": "/scopes", "detail": detail}])
    secret = TOKEN_PREFIX + secrets.token_urlsafe(32)
    with uow.begin() as tx:
        users.hold(tx, user_id)
        if accounts.living(tx, user_id, now=now) >= MOST_TOKENS:
            raise TooManyTokens(f"The account has {MOST_TOKENS} tokens; revoke one that is not needed")
        parent = _parent(tx, user_id, made_by, now=now) if made_by else None
        ends_at = _end(expires_at, parent)
        token = Token(uuid4(), secret, secret[:11], tuple(scopes), ends_at)
        accounts.add_token(
            tx,
            token_id=token.token_id,
            user_id=user_id,
            secret=secret,
            prefix=token.prefix,
            name=name,
            scopes=list(scopes),
            now=now,
            expires_at=ends_at,
            parent_id=parent.token_id if parent else None,
        )
    return token


def _parent(tx: Tx, user_id: UUID, secret: str, *, now: datetime) -> accounts.Parent:
    parent = accounts.hold_parent(tx, user_id, secret, now=now)
    if parent is None:  # revoked since the request was let in
        raise Unauthenticated("This token is unknown, revoked or expired")
    return parent


def _end(asked: datetime | None, parent: accounts.Parent | None) -> datetime | None:
    bound = parent.expires_at if parent else None
    if bound is None or asked is None:
        return asked or bound
    if asked > bound:
        raise Forbidden(f"This token ends at {bound.isoformat()} and cannot make one that ends later")
    return asked


def by_token(
    uow: UnitOfWork, secret: str, *, writes_per_minute: int | None = None, now: datetime
) -> tuple[Account, frozenset[str]] | None:
    """Whose token it is, and what it may do.  writes_per_minute: of a request that writes, which counts itself.

    Raises: TooManyRequests.
    """
    with uow.once() as tx:
        found = accounts.use_token(tx, secret, writes_per_minute=writes_per_minute, now=now)
    if found is None:
        return None
    refuse_early(found.wait, per_minute=writes_per_minute or 0)
    return found.account, found.scopes


def tokens(uow: UnitOfWork, user_id: UUID) -> list[dict[str, Any]]:
    """The user's living tokens, newest first, without their secrets."""
    with uow.begin() as tx:
        return [dict(row) for row in accounts.tokens_of(tx, user_id)]


def revoke_token(uow: UnitOfWork, user_id: UUID, token_id: UUID, *, now: datetime) -> None:
    """Raises: NotFound."""
    with uow.begin() as tx:
        users.hold(tx, user_id)
        if not accounts.revoke_token(tx, user_id, token_id, now=now):
            raise NotFound("No such token")


def sign_in_link(uow: UnitOfWork, user_id: UUID, *, now: datetime) -> str:
    """A secret that signs the user in once, within a day."""
    secret = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        accounts.add_link(tx, user_id, secret, expires_at=now + LINK_LIFE)
    return secret


def sign_in(uow: UnitOfWork, link_secret: str, *, now: datetime) -> str | None:
    """Spend a link; returns the secret of a new session, None for a link that is spent or old."""
    secret = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        user_id = accounts.use_link(tx, link_secret, now=now)
        if user_id is None:
            return None
        accounts.add_session(tx, user_id, secret, now=now, expires_at=now + SESSION_LIFE)
    return secret


def by_session(uow: UnitOfWork, secret: str, *, now: datetime) -> Account | None:
    """Whose session it is."""
    with uow.begin() as tx:
        user_id = accounts.session_user(tx, secret, now=now)
        return users.find(tx, user_id) if user_id else None


def sign_out(uow: UnitOfWork, secret: str) -> None:
    """End a session; idempotent."""
    with uow.begin() as tx:
        accounts.end_session(tx, secret)
