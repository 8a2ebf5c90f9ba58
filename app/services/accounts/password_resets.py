"""Links that set a new password, and links that verify an address (docs/adr/0055)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from app.errors import InvalidInput, Message
from app.services.accounts import accounts as people
from app.services.accounts import password_hashes, sessions, verified_addresses
from app.services.accounts.elsewhere import NOWHERE, Elsewhere
from app.services.accounts.sessions import SESSION_LIFE
from app.services.accounts.throttle import count
from app.store.accounts import one_time_secrets, open_sessions, passwords, users
from app.store.accounts.one_time_secrets import Purpose
from app.store.accounts.open_sessions import Way
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import audit_log

RESET_LIFE, VERIFY_LIFE = timedelta(hours=1), timedelta(days=1)
PER_ADDRESS = 5  # requests for links per minute of one client's address
#: Links of one kind and account that are valid at once: nobody's mailbox is filled by strangers.
MOST = 3
RESETS = (Purpose.MAILED_RESET, Purpose.RESET)
USED = Message("This link was used before or has expired. Ask for a new one.")


@dataclass(frozen=True, slots=True)
class ResetLetter:
    """A link's secret, and the address of its account."""

    email: str
    secret: str


@dataclass(frozen=True, slots=True)
class PasswordReset:
    """A password that was set by a link.

    session: the secret of the new session; account: whose it is, with an address that is verified.
    """

    session: str
    account: Account


def count_request(uow: UnitOfWork, *, client: str, secret: str) -> None:
    """Count somebody who forgot their password.  client, secret: as in passwords.sign_in.  Raises: TooManyRequests."""
    count(uow, f"reset:{people.anonymous_id(client, secret)}", PER_ADDRESS)


def ask(
    uow: UnitOfWork, email: str, *, mailed: bool, elsewhere: Elsewhere = NOWHERE, now: datetime
) -> ResetLetter | None:
    """Make a link for somebody who forgot their password, after they have got their answer.

    mailed: whether only a reader of the account's mail gets it.
    Returns: None if there is no such account, or if it has enough links; the person must not learn which.
    Raises: Busy, ReadOnly.
    Locks: users row, so that requests at once make no more links than one after the other.
    """
    if len(email) > people.LONGEST_EMAIL or not email.isprintable():
        return None
    with uow.begin() as tx:
        found = users.find_by_email(tx, email)
        if account := users.lock(tx, found.user_id) if found else None:
            return _letter(tx, account, Purpose.MAILED_RESET if mailed else Purpose.RESET, now=now)
    with elsewhere.of_address(email, but=uow) as there:  # it may have moved since the request came here
        return ask(there, email, mailed=mailed, elsewhere=elsewhere, now=now) if there else None


def hand_out(uow: UnitOfWork, account: Account, *, actor: str, now: datetime) -> str:
    """Make the secret of a link that an operator gives to a person.  actor: for the audit log."""
    made = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        one_time_secrets.add(tx, Purpose.RESET, made, user_id=account.user_id, expires_at=now + RESET_LIFE)
        audit_log.add(tx, actor, "user.link", str(account.user_id), sets_password=True)
    return made


def reset(uow: UnitOfWork, secret: str, new: str, *, elsewhere: Elsewhere = NOWHERE, now: datetime) -> PasswordReset:
    """Set the password and sign in; all other sessions and links end.

    The link is used up before the hash, so however often it is sent, one hash is made.  A refusal leaves it valid,
    unless the account moves meanwhile and its new cell takes no changes.
    The link verifies the address: a mailed one was read there, and an operator gave any other to a person whom they
    know.
    Raises: InvalidInput, Busy, ReadOnly.  Locks: users row.
    """
    with uow.begin() as tx:
        found = _owner(tx, secret, now=now)
    plain = password_hashes.checked(new, found.email or "")
    with password_hashes.own_turn(f"{found.user_id} link") as hashes:  # who is signed in, perhaps a thief, has another
        stored = _use_up(uow, found.user_id, secret, now=now)
        made = hashes.hashed(plain)
    return _put(uow, found.user_id, made, stored, elsewhere, now=now)


def ask_to_verify(uow: UnitOfWork, account: Account, *, now: datetime) -> ResetLetter | None:
    """Make a link that verifies the address; None if it has enough."""
    with uow.begin() as tx:
        return _letter(tx, account, Purpose.VERIFY, now=now)


def verify(uow: UnitOfWork, account: Account, secret: str, *, session: str, now: datetime) -> str:
    """Note that the signed-in person reads mail to the address.

    The link alone is not enough, because the owner of the address may not be the one who created the account.  The
    first time, everything of before goes, except the way in that the person has just used.
    session: the secret of the person's own.  Returns: its new one.
    Raises: InvalidInput, ConfirmationNeeded, Unauthenticated.  Locks: users row.
    """
    sessions.require_fresh(uow, session, now=now)
    with uow.begin() as tx:
        users.lock_row(tx, account.user_id)
        found = one_time_secrets.use(tx, Purpose.VERIFY, secret, now=now)
        if found is None or found.user_id != account.user_id:
            raise InvalidInput(USED)
        proof = open_sessions.proof_of(tx, session)
        by = (proof and proof.by) or Way.LINK
        renewed = sessions.renew(tx, account.user_id, session, by=by, now=now)
        if verified_addresses.verify(tx, account.user_id, by=by, now=now):
            open_sessions.add_session(tx, account.user_id, renewed, by=by, now=now, expires_at=now + SESSION_LIFE)
    return renewed


def verified_at(uow: UnitOfWork, user_id: UUID) -> datetime | None:
    """When the address was verified; None if it never was."""
    with uow.begin() as tx:
        return users.email_verified_at(tx, user_id)


def _put(
    uow: UnitOfWork, user_id: UUID, made: str, stored: str | None, elsewhere: Elsewhere, *, now: datetime
) -> PasswordReset:
    """Set the password where the account lives: it may move after its link was used up.  stored: the previous one."""
    session = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        account = users.lock(tx, user_id)
        # another link may have set a password in the meantime, which voids this one
        if account and passwords.hash_of(tx, user_id) != stored:
            raise InvalidInput(USED)
        if account:
            verified_addresses.verify(tx, user_id, now=now)
            passwords.put(tx, user_id, made, now=now)
            open_sessions.end_others(tx, user_id, None)
            one_time_secrets.drop(tx, user_id)
            open_sessions.add_session(tx, user_id, session, by=Way.PASSWORD, now=now, expires_at=now + SESSION_LIFE)
            audit_log.add(tx, str(user_id), "user.password", str(user_id), by_link=True)
            return PasswordReset(session, account)
    with elsewhere.of_user(user_id, but=uow) as there:
        if there is None:
            raise InvalidInput(USED)
        return _put(there, user_id, made, stored, elsewhere, now=now)


def _letter(tx: Tx, account: Account, purpose: Purpose, *, now: datetime) -> ResetLetter | None:
    if one_time_secrets.living(tx, account.user_id, purpose, now=now) >= MOST:
        return None
    life = VERIFY_LIFE if purpose is Purpose.VERIFY else RESET_LIFE
    made = secrets.token_urlsafe(32)
    one_time_secrets.add(tx, purpose, made, user_id=account.user_id, expires_at=now + life)
    return ResetLetter(account.email or "", made)


def _owner(tx: Tx, secret: str, *, now: datetime) -> Account:
    """Find the account that a reset secret belongs to.  Raises: InvalidInput if it is unknown, used or expired."""
    user_id = next((found for one in RESETS if (found := one_time_secrets.owner(tx, one, secret, now=now))), None)
    account = users.find(tx, user_id) if user_id else None
    if account is None:
        raise InvalidInput(USED)
    return account


def _use_up(uow: UnitOfWork, user_id: UUID, secret: str, *, now: datetime) -> str | None:
    """Use up a reset secret.  Returns: the hash of the previous password.  Raises: InvalidInput."""
    with uow.begin() as tx:
        if not any(one_time_secrets.use(tx, purpose, secret, now=now) for purpose in RESETS):
            raise InvalidInput(USED)
        return passwords.hash_of(tx, user_id)
