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
from app.services.accounts import password_hashes, sessions, verified_addresses
from app.services.accounts import sign_up as new_accounts
from app.services.accounts.sessions import SESSION_LIFE
from app.services.accounts.throttle import count
from app.store.accounts import credentials, github_links, open_sessions, passkeys, passwords, users
from app.store.accounts.open_sessions import Way
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import audit_log

#: Attempts per minute: of one client's address, and at one account from all addresses together.  Those of a person who
#: is signed in to it are counted apart.
PER_ADDRESS, PER_ACCOUNT = 20, 5
#: The same for an unknown address, a wrong password and an account without one.
WRONG = Message("The e-mail address or the password is wrong.")


def sign_up(
    uow: UnitOfWork, email: str, password: str, *, tier: Tier, per_day: int, client: str, secret: str, now: datetime
) -> str:
    """Create an account and sign in.

    per_day: sign-ups of the whole service; client: the address of the browser; secret: hides it in the throttle.

    The hash is made before the look-up, so the time does not reveal whether the address is taken; the answer has to.
    Returns: the secret of a session.  Raises: InvalidInput, Conflict, TooManyRequests, Busy.
    """
    people.check_email(email)
    plain = password_hashes.checked(password, email)
    network, session = people.network_id(client, secret), secrets.token_urlsafe(32)
    count(uow, f"sign-up:{people.anonymous_id(client, secret)}", new_accounts.PER_ADDRESS)
    with password_hashes.turn(str(network)) as hashes:
        made = hashes.hashed(plain)
    with uow.begin() as tx:
        user_id = new_accounts.new_account(tx, email, tier=tier, per_day=per_day, network=network, now=now)
        passwords.put(tx, user_id, made, now=now)
        open_sessions.add_session(tx, user_id, session, by=Way.PASSWORD, now=now, expires_at=now + SESSION_LIFE)
    return session


def sign_in(uow: UnitOfWork, email: str, password: str, *, client: str, secret: str, now: datetime) -> str:
    """Compare the password and open a session.  client, secret: as in sign_up.

    Returns: the secret of the session.  Raises: Unauthenticated, TooManyRequests, Busy.
    Locks: users row, so that no session begins with a password that was changed in the meantime.
    """
    if len(email) > people.LONGEST_EMAIL or not email.isprintable():
        email = ""  # nobody has it, and PostgreSQL may not take it
    session = secrets.token_urlsafe(32)
    count(uow, f"sign-in:{people.anonymous_id(client, secret)}", PER_ADDRESS)
    with password_hashes.turn(str(people.network_id(client, secret))) as hashes:
        with uow.begin() as tx:
            found = passwords.by_email(tx, email)
        count(uow, f"sign-in:{found.user_id if found else _stranger(email, secret)}", PER_ACCOUNT)
        stored = found.hash if found else None
        if not hashes.matches(password, stored) or found is None or stored is None:
            raise Unauthenticated(WRONG)
        newer = hashes.hashed(password_hashes.normal(password)) if password_hashes.is_outdated(stored) else None
    with uow.begin() as tx:
        users.lock_row(tx, found.user_id)
        if passwords.hash_of(tx, found.user_id) != stored:
            raise Unauthenticated(WRONG)
        if newer:
            passwords.replace_hash(tx, found.user_id, newer)
        open_sessions.add_session(tx, found.user_id, session, by=Way.PASSWORD, now=now, expires_at=now + SESSION_LIFE)
    return session


def has_password(uow: UnitOfWork, user_id: UUID) -> bool:
    """Whether the user can sign in with one."""
    with uow.begin() as tx:
        return passwords.hash_of(tx, user_id) is not None


def confirm(uow: UnitOfWork, user_id: UUID, password: str) -> str | None:
    """Compare the password of somebody who is signed in.

    It is not counted together with attempts to sign in, or a stranger's guesses would keep the owner from this.
    Returns: its hash, None for an account without a password, which needs none.
    Raises: InvalidInput, TooManyRequests, Busy.
    """
    with password_hashes.own_turn(str(user_id)) as hashes:
        return _confirmed(uow, user_id, password, hashes)


def change(
    uow: UnitOfWork, account: Account, new: str, *, current: str, session: str, shuts_out: bool = False, now: datetime
) -> str:
    """Give a signed-in person another password, or the first; all other sessions end.

    session: the secret of the person's own; shuts_out: whether tokens, passkeys and a linked GitHub account end too.
    Returns: the new secret of the session, because there may be copies of the old one.
    Raises: as confirm; ConfirmationNeeded for the first password; Conflict if the password was changed in the meantime;
    Unauthenticated if the session ended.
    """
    plain = password_hashes.checked(new, account.email or "")
    with password_hashes.own_turn(str(account.user_id)) as hashes:
        stored = _confirmed(uow, account.user_id, current, hashes)
        made = hashes.hashed(plain)
    if stored is None:
        sessions.require_fresh(uow, session, now=now)
    with uow.begin() as tx:
        if users.lock(tx, account.user_id) is None:
            raise NotFound("No such user")
        if passwords.hash_of(tx, account.user_id) != stored:
            raise Conflict("The password was changed in the meantime.")
        renewed = sessions.renew(tx, account.user_id, session, by=Way.PASSWORD, now=now)
        if shuts_out:
            _shut_out(tx, account.user_id, now=now)
        _put(tx, account.user_id, made, session=renewed, actor=str(account.user_id), shut_out=shuts_out, now=now)
    return renewed


def replace(uow: UnitOfWork, email: str, new: str, *, actor: str, now: datetime) -> Account:
    """Give a person a password without knowing the current one; all their sessions end.

    It verifies the address: an operator gives the password to a person whom they know.

    Raises: NotFound, InvalidInput.
    """
    account = people.find_person(uow, email)
    plain = password_hashes.checked(new, account.email or "")
    with password_hashes.own_turn(str(account.user_id)) as hashes:
        made = hashes.hashed(plain)
    with uow.begin() as tx:
        if users.lock(tx, account.user_id) is None:
            raise NotFound(Message("There is no account for %(email)s", email=email))
        verified_addresses.verify(tx, account.user_id, now=now)
        _put(tx, account.user_id, made, session=None, actor=actor, now=now)
    return account


def _confirmed(uow: UnitOfWork, user_id: UUID, password: str, hashes: password_hashes.Turn) -> str | None:
    with uow.begin() as tx:
        stored = passwords.hash_of(tx, user_id)
    if stored is None:
        return None
    count(uow, f"confirm:{user_id}", PER_ACCOUNT)
    if not hashes.matches(password, stored):
        message = Message("The current password is wrong.")
        raise InvalidInput(message, errors=[{"pointer": "/current", "detail": message}])
    return stored


def _put(tx: Tx, user_id: UUID, made: str, *, session: str | None, actor: str, now: datetime, **facts: object) -> None:
    """The caller has locked the users row.  facts: for the audit log."""
    passwords.put(tx, user_id, made, now=now)
    open_sessions.end_others(tx, user_id, session)
    audit_log.add(tx, actor, "user.password", str(user_id), **facts)


def _shut_out(tx: Tx, user_id: UUID, *, now: datetime) -> None:
    """The caller has locked the users row."""
    credentials.revoke_all(tx, user_id, now=now)
    passkeys.remove_all(tx, user_id)
    github_links.remove(tx, user_id)


def _stranger(email: str, secret: str) -> str:
    """An unknown address, hidden, because nobody would delete it."""
    return hmac.new(secret.encode(), email.lower().encode(), hashlib.sha256).hexdigest()
