"""Sign up, sign in with a password, and change it (docs/adr/0053)."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from datetime import datetime
from uuid import UUID

from app.domain.plans import Tier
from app.errors import Conflict, InvalidInput, Message, NotFound, Unauthenticated
from app.services.accounts import accounts as people
from app.services.accounts import password_hashes
from app.services.accounts import sign_up as new_accounts
from app.services.accounts.sessions import SESSION_LIFE
from app.services.accounts.throttle import count
from app.store import accounts, audit_log, passwords, users
from app.store.unit_of_work import Tx, UnitOfWork
from app.store.users import Account

#: Attempts per minute: of one client's address, and at one account from all addresses together.
PER_ADDRESS, PER_ACCOUNT = 20, 5
#: The same for an unknown address, a wrong password and an account without one.
WRONG = Message("The e-mail address or the password is wrong.")


def sign_up(
    uow: UnitOfWork, email: str, password: str, *, tier: Tier, per_day: int, client: str, secret: str, now: datetime
) -> str:
    """Create an account and sign in.

    per_day: sign-ups of the whole service; client: the address of the browser; secret: hides it in the throttle.

    The hash is made before the look-up, so the time does not tell whether the address is taken; the answer has to.
    Returns: the secret of a session.  Raises: InvalidInput, Conflict, TooManyRequests, Busy.
    """
    people.check_email(email)
    plain = password_hashes.checked(password, email)
    count(uow, f"sign-up:{people.anonymous_id(client, secret)}", new_accounts.PER_ADDRESS)
    made, session = password_hashes.hashed(plain), secrets.token_urlsafe(32)
    with uow.begin() as tx:
        user_id = new_accounts.new_account(tx, email, tier=tier, per_day=per_day, now=now)
        passwords.put(tx, user_id, made, now=now)
        accounts.add_session(tx, user_id, session, now=now, expires_at=now + SESSION_LIFE)
    return session


def sign_in(uow: UnitOfWork, email: str, password: str, *, client: str, secret: str, now: datetime) -> str:
    """Compare the password and open a session.  client, secret: as in sign_up.

    Returns: the secret of the session.  Raises: Unauthenticated, TooManyRequests, Busy.
    Locks: users row, so that no session begins with a password that was changed in the meantime.
    """
    count(uow, f"sign-in:{people.anonymous_id(client, secret)}", PER_ADDRESS)
    if len(email) > people.LONGEST_EMAIL or not email.isprintable():
        email = ""  # nobody has it, and PostgreSQL may not take it
    with uow.begin() as tx:
        found = passwords.by_email(tx, email)
    count(uow, f"sign-in:{found.user_id if found else _stranger(email, secret)}", PER_ACCOUNT)
    stored = found.hash if found else None
    if not password_hashes.matches(password, stored) or found is None or stored is None:
        raise Unauthenticated(WRONG)
    newer = password_hashes.hashed(password_hashes.normal(password)) if password_hashes.is_outdated(stored) else None
    session = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        users.lock_row(tx, found.user_id)
        if passwords.hash_of(tx, found.user_id) != stored:
            raise Unauthenticated(WRONG)
        if newer:
            passwords.replace_hash(tx, found.user_id, newer)
        accounts.add_session(tx, found.user_id, session, now=now, expires_at=now + SESSION_LIFE)
    return session


def has_password(uow: UnitOfWork, user_id: UUID) -> bool:
    """Whether the user can sign in with one."""
    with uow.begin() as tx:
        return passwords.hash_of(tx, user_id) is not None


def confirm(uow: UnitOfWork, user_id: UUID, password: str) -> str | None:
    """Compare the password of somebody who is signed in; it counts as an attempt to sign in.

    Returns: its hash, None for an account without a password, which needs none.
    Raises: InvalidInput, TooManyRequests, Busy.
    """
    with uow.begin() as tx:
        stored = passwords.hash_of(tx, user_id)
    if stored is None:
        return None
    count(uow, f"sign-in:{user_id}", PER_ACCOUNT)
    if not password_hashes.matches(password, stored):
        told = Message("The current password is wrong.")
        raise InvalidInput(told, errors=[{"pointer": "/current", "detail": told}])
    return stored


def change(uow: UnitOfWork, account: Account, new: str, *, current: str, session: str, now: datetime) -> None:
    """Give a signed-in person another password, or the first; all other sessions end.

    session: the secret of the person's own.  Raises: as confirm, and Conflict if it was changed in the meantime.
    """
    plain = password_hashes.checked(new, account.email or "")
    stored = confirm(uow, account.user_id, current)
    made = password_hashes.hashed(plain)
    with uow.begin() as tx:
        if users.lock(tx, account.user_id) is None:
            raise NotFound("No such user")
        if passwords.hash_of(tx, account.user_id) != stored:
            raise Conflict("The password was changed in the meantime.")
        _put(tx, account.user_id, made, session=session, actor=str(account.user_id), now=now)


def replace(uow: UnitOfWork, email: str, new: str, *, actor: str, now: datetime) -> Account:
    """Give a person a password without knowing the current one; all their sessions end.

    Raises: NotFound, InvalidInput.
    """
    account = people.find_person(uow, email)
    made = password_hashes.hashed(password_hashes.checked(new, account.email or ""))
    with uow.begin() as tx:
        if users.lock(tx, account.user_id) is None:
            raise NotFound(Message("There is no account for %(email)s", email=email))
        _put(tx, account.user_id, made, session=None, actor=actor, now=now)
    return account


def _put(tx: Tx, user_id: UUID, made: str, *, session: str | None, actor: str, now: datetime) -> None:
    """The caller has locked the users row."""
    passwords.put(tx, user_id, made, now=now)
    accounts.end_others(tx, user_id, session)
    audit_log.add(tx, actor, "user.password", str(user_id))


def _stranger(email: str, secret: str) -> str:
    """An unknown address, hidden, because nobody would delete it."""
    return hmac.new(secret.encode(), email.lower().encode(), hashlib.sha256).hexdigest()
