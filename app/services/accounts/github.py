"""Sign in with a GitHub account, and link one to an account of ours (docs/adr/0055)."""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import partial
from typing import Protocol
from uuid import UUID

from app.domain.plans import Tier
from app.errors import Conflict, Forbidden, InvalidInput, Message, Unauthenticated
from app.services.accounts import accounts as people
from app.services.accounts import check_caller, sign_in_methods, sign_up
from app.services.accounts.elsewhere import NOWHERE, Elsewhere
from app.services.accounts.passwords import PER_ADDRESS
from app.services.accounts.sessions import SESSION_ENDED, SESSION_LIFE
from app.services.accounts.throttle import count
from app.store.accounts import github_links, one_time_secrets, open_sessions, users
from app.store.accounts.github_links import Link
from app.store.accounts.one_time_secrets import Purpose
from app.store.accounts.open_sessions import Way
from app.store.accounts.users import Account
from app.store.core.unit_of_work import OvertakenError, Tx, UnitOfWork
from app.store.operations import audit_log

STATE_LIFE = timedelta(minutes=10)
EXPIRED = Message("This sign-in was done already, took too long, or began in another browser. Begin again.")
UNKNOWN = Message(
    "No account here is linked to this GitHub account. Sign in another way, and link it on the page of your account."
)
TAKEN = Message(
    "There is an account with the address of this GitHub account already. Sign in to it another way, and link GitHub "
    "on the page of your account."
)
NO_EMAIL = Message("Your GitHub account has no verified primary e-mail address, which a new account here needs.")
LINKED = Message("This GitHub account is linked to an account already, or your account to another GitHub account.")


@dataclass(frozen=True, slots=True)
class Identity:
    """Whom GitHub has signed in.  email: the primary address, None unless GitHub has verified it."""

    github_id: int
    login: str
    email: str | None


class Make(Protocol):
    """Finds an account for somebody whom no account is linked to."""

    def __call__(self, tx: Tx, who: Identity, *, now: datetime) -> UUID:
        """Return its id, or refuse."""
        ...


def begin(uow: UnitOfWork, *, user_id: UUID | None, client: str, secret: str, now: datetime) -> str:
    """A state that comes back once.

    user_id: who wants to link; None to sign in; client, secret: as in passwords.sign_in.  Raises: TooManyRequests.
    """
    count(uow, f"sign-in:{people.anonymous_id(client, secret)}", PER_ADDRESS)
    state = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        one_time_secrets.add(tx, Purpose.GITHUB, state, user_id=user_id, expires_at=now + STATE_LIFE)
    return state


def come_back(uow: UnitOfWork, state: str, *, user_id: UUID | None, now: datetime) -> None:
    """Use the state up.  Raises: InvalidInput."""
    with uow.begin() as tx:
        found = one_time_secrets.use(tx, Purpose.GITHUB, state, now=now)
    if found is None or found.user_id != user_id:
        raise InvalidInput(EXPIRED)


def sign_in(
    uow: UnitOfWork, who: Identity, *, may_sign_up: bool, tier: Tier, per_day: int, network: UUID, now: datetime,
    elsewhere: Elsewhere = NOWHERE,
) -> str:  # fmt: skip
    """Open a session of the linked account, or of a new one; never of one that only has the same address.

    network: of the client (accounts.network_id).
    Returns: the secret of the session.  Raises: Forbidden, InvalidInput, Conflict, TooManyRequests, Busy, ReadOnly.
    Locks: users row, so that no session of an account begins while it is closed.
    """
    make = partial(_make, tier=tier, per_day=per_day, network=network, elsewhere=elsewhere) if may_sign_up else _refuse
    while True:  # an account may move, or be unlinked, while this waits for it
        with suppress(OvertakenError), elsewhere.of_github(who.github_id) as there:
            return _enter(there or uow, who, make if there is None else None, now=now)


def _enter(uow: UnitOfWork, who: Identity, make: Make | None, *, now: datetime) -> str:
    """Open a session.  make: what to do if nobody is linked; None: somebody was.

    Raises: OvertakenError if this is no longer so, or another account is linked now; as `make`.
    """
    session = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        if owner := github_links.owner(tx, who.github_id):
            users.lock_row(tx, owner)
        # again, because the account may have been closed or unlinked while we waited for the lock
        user_id = github_links.user_of(tx, who.github_id, who.login)
        if user_id != owner:
            raise OvertakenError
        if user_id is None:
            if make is None:
                raise OvertakenError
            user_id = make(tx, who, now=now)
        open_sessions.add_session(tx, user_id, session, by=Way.GITHUB, now=now, expires_at=now + SESSION_LIFE)
    return session


def _refuse(tx: Tx, who: Identity, *, now: datetime) -> UUID:  # noqa: ARG001 - as _make
    raise Forbidden(UNKNOWN)


def _make(
    tx: Tx, who: Identity, *, tier: Tier, per_day: int, network: UUID, elsewhere: Elsewhere, now: datetime
) -> UUID:
    """Add an account.  Raises: InvalidInput, Conflict, TooManyRequests, Busy."""
    if who.email is None:
        raise InvalidInput(NO_EMAIL)
    people.check_email(who.email)
    if users.find_by_email(tx, who.email):
        raise Conflict(TAKEN)
    try:
        user_id = sign_up.new_account(tx, who.email, tier=tier, per_day=per_day, network=network, now=now)
    except Conflict as error:  # of another cell
        raise Conflict(TAKEN) from error
    users.verify_email(tx, user_id, now=now)
    _link(tx, user_id, who.email, who, elsewhere, now=now)
    return user_id


def link(
    uow: UnitOfWork,
    account: Account,
    who: Identity,
    *,
    session: str | None = None,
    elsewhere: Elsewhere = NOWHERE,
    now: datetime,
) -> None:
    """Let this GitHub account sign in to the account of a signed-in person.  session: the secret of the person's own.

    Raises: Conflict, Unauthenticated, Busy, ReadOnly.  Locks: users row.
    """
    with elsewhere.of_github(who.github_id) as there:
        if there is not None:
            raise Conflict(LINKED)
    with uow.begin() as tx:
        if is_here := users.lock(tx, account.user_id) is not None:
            check_caller.check(tx, account.user_id, session, now=now)
            _link(tx, account.user_id, account.email or "", who, elsewhere, now=now)
            audit_log.add(tx, str(account.user_id), "github.link", str(account.user_id))
    if is_here:
        return
    with elsewhere.of_user(account.user_id, but=uow) as there:  # it has moved since GitHub answered, which it does once
        if there is None:
            raise Unauthenticated(SESSION_ENDED)
        link(there, account, who, session=session, elsewhere=elsewhere, now=now)


def _link(tx: Tx, user_id: UUID, email: str, who: Identity, elsewhere: Elsewhere, *, now: datetime) -> None:
    if not github_links.add(tx, user_id, who.github_id, who.login, now=now):
        raise Conflict(LINKED)
    if not elsewhere.claim_github(who.github_id, user_id, email):
        raise Conflict(LINKED)


def unlink(uow: UnitOfWork, user_id: UUID) -> None:
    """Remove the link to GitHub.  Raises: Conflict if it is the last way to sign in.  Locks: users row."""
    with uow.begin() as tx:
        users.lock_row(tx, user_id)
        github_links.remove(tx, user_id)
        sign_in_methods.keep_one(tx, user_id, offers_github=False)
        audit_log.add(tx, str(user_id), "github.unlink", str(user_id))


def link_of(uow: UnitOfWork, user_id: UUID) -> Link | None:
    """The GitHub account of a user."""
    with uow.begin() as tx:
        return github_links.of_user(tx, user_id)
