"""Links that set a new password, and links that verify an address (docs/adr/0055)."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID

from app.errors import InvalidInput, Message
from app.services.accounts import accounts as people
from app.services.accounts import password_hashes
from app.services.accounts.sessions import SESSION_LIFE
from app.services.accounts.throttle import count
from app.store import accounts, audit_log, github_links, one_time_secrets, passkeys, passwords, users
from app.store.one_time_secrets import Purpose
from app.store.unit_of_work import Tx, UnitOfWork
from app.store.users import Account

RESET_LIFE, VERIFY_LIFE = timedelta(hours=1), timedelta(days=1)
PER_ADDRESS = 5  # requests for links per minute of one client's address
#: Links of one kind and account that are valid at once: nobody's mailbox is filled by strangers.
MOST = 3
USED = Message("This link was used before or has expired. Ask for a new one.")


@dataclass(frozen=True, slots=True)
class Letter:
    """A link's secret, and the address of its account."""

    email: str
    secret: str


def ask(uow: UnitOfWork, email: str, *, mailed: bool, client: str, secret: str, now: datetime) -> Letter | None:
    """Make a link for somebody who forgot their password.

    mailed: whether only a reader of the account's mail gets it; client, secret: as in passwords.sign_in.
    Returns: None if there is no such account, or if it has enough links; the person must not learn which.
    Raises: TooManyRequests.
    """
    count(uow, f"reset:{people.anonymous_id(client, secret)}", PER_ADDRESS)
    if len(email) > people.LONGEST_EMAIL or not email.isprintable():
        return None
    with uow.begin() as tx:
        account = users.find_by_email(tx, email)
        return _letter(tx, account, Purpose.MAILED_RESET if mailed else Purpose.RESET, now=now) if account else None


def hand_out(uow: UnitOfWork, account: Account, *, now: datetime) -> str:
    """The secret of a link that an operator gives to a person."""
    made = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        one_time_secrets.add(tx, Purpose.RESET, made, user_id=account.user_id, expires_at=now + RESET_LIFE)
    return made


def reset(uow: UnitOfWork, secret: str, new: str, *, now: datetime) -> str:
    """Set the password and sign in; all other sessions and links end.

    A mailed link verifies the address.  If it was not verified before, somebody else may have created the account:
    its passkeys, its GitHub link and its tokens end as well.
    Returns: the secret of the new session.  Raises: InvalidInput, Busy.  Locks: users row.
    """
    with uow.begin() as tx:
        found = _owner(tx, secret, now=now)
    made = password_hashes.hashed(password_hashes.checked(new, found.email or ""))
    session = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        users.lock_row(tx, found.user_id)
        is_mailed = one_time_secrets.use(tx, Purpose.MAILED_RESET, secret, now=now) is not None
        if not is_mailed and one_time_secrets.use(tx, Purpose.RESET, secret, now=now) is None:
            raise InvalidInput(USED)
        if is_mailed and users.verify_email(tx, found.user_id, now=now):
            _shut_others_out(tx, found.user_id, now=now)
        passwords.put(tx, found.user_id, made, now=now)
        accounts.end_others(tx, found.user_id, None)
        one_time_secrets.drop(tx, found.user_id)
        accounts.add_session(tx, found.user_id, session, now=now, expires_at=now + SESSION_LIFE)
        audit_log.add(tx, str(found.user_id), "user.password", str(found.user_id), by_link=True)
    return session


def ask_to_verify(uow: UnitOfWork, account: Account, *, now: datetime) -> Letter | None:
    """Make a link that verifies the address; None if it has enough."""
    with uow.begin() as tx:
        return _letter(tx, account, Purpose.VERIFY, now=now)


def verify(uow: UnitOfWork, account: Account, secret: str, *, now: datetime) -> None:
    """Note that the signed-in person reads mail to the address.

    The link alone is not enough, because the owner of the address may not be the one who created the account.
    Raises: InvalidInput.  Locks: users row.
    """
    with uow.begin() as tx:
        users.lock_row(tx, account.user_id)
        found = one_time_secrets.use(tx, Purpose.VERIFY, secret, now=now)
        if found is None or found.user_id != account.user_id:
            raise InvalidInput(USED)
        users.verify_email(tx, account.user_id, now=now)
        audit_log.add(tx, str(account.user_id), "user.email", str(account.user_id))


def verified_at(uow: UnitOfWork, user_id: UUID) -> datetime | None:
    """When the address was verified; None if it never was."""
    with uow.begin() as tx:
        return users.email_verified_at(tx, user_id)


def _letter(tx: Tx, account: Account, purpose: Purpose, *, now: datetime) -> Letter | None:
    if one_time_secrets.living(tx, account.user_id, purpose, now=now) >= MOST:
        return None
    life = VERIFY_LIFE if purpose is Purpose.VERIFY else RESET_LIFE
    made = secrets.token_urlsafe(32)
    one_time_secrets.add(tx, purpose, made, user_id=account.user_id, expires_at=now + life)
    return Letter(account.email or "", made)


def _owner(tx: Tx, secret: str, *, now: datetime) -> Account:
    """Raises: InvalidInput."""
    purposes = (Purpose.MAILED_RESET, Purpose.RESET)
    user_id = next((found for one in purposes if (found := one_time_secrets.owner(tx, one, secret, now=now))), None)
    account = users.find(tx, user_id) if user_id else None
    if account is None:
        raise InvalidInput(USED)
    return account


def _shut_others_out(tx: Tx, user_id: UUID, *, now: datetime) -> None:
    passkeys.remove_all(tx, user_id)
    github_links.remove(tx, user_id)
    accounts.revoke_all(tx, user_id, now=now)
