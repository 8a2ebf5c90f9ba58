"""Register passkeys, and sign in and up with them (docs/adr/0055)."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from enum import StrEnum
from uuid import UUID, uuid4

from webauthn.helpers import base64url_to_bytes, bytes_to_base64url

from app.domain.plans import Tier
from app.errors import Conflict, InvalidInput, Message, NotFound, Unauthenticated
from app.services.accounts import accounts as people
from app.services.accounts import check_caller, passkey_checks, sign_in_methods, sign_up
from app.services.accounts.elsewhere import NOWHERE, Elsewhere
from app.services.accounts.passkey_checks import Site
from app.services.accounts.passwords import PER_ADDRESS
from app.services.accounts.sessions import SESSION_LIFE
from app.services.accounts.throttle import count
from app.store.accounts import one_time_secrets, open_sessions, passkeys, users
from app.store.accounts.one_time_secrets import Purpose
from app.store.accounts.passkeys import StoredKey
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import audit_log

CHALLENGE_LIFE = timedelta(minutes=10)
MOST = 20  # of an account
LONGEST_NAME = 60  # characters
HANDLE_BYTES = 16  # of an account's id, which a passkey keeps
UNKNOWN = Message("No account has this passkey. It may have been removed; sign in another way.")
EXPIRED = Message("This took too long, or was done already. Try again.")


class Ceremony(StrEnum):
    """A challenge of one does not work for another."""

    REGISTER = "register"
    SIGN_IN = "sign in"
    SIGN_UP = "sign up"
    CONFIRM = "confirm"


@dataclass(frozen=True, slots=True)
class Challenge:
    """The state that a browser's session holds until its authenticator has answered.

    user_id: of the account to be made, for a sign-up; options: JSON for the browser's API.
    """

    text: str
    options: str
    user_id: UUID | None = None


@dataclass(frozen=True, slots=True)
class Passkey:
    """A registered passkey."""

    id: UUID
    name: str
    created_at: datetime
    last_used_at: datetime | None


def begin_registration(uow: UnitOfWork, account: Account, site: Site, *, now: datetime) -> Challenge:
    """Ask for another passkey of a signed-in person."""
    with uow.begin() as tx:
        known = [bytes(row.credential_id) for row in passkeys.of_user(tx, account.user_id)]
        text = _challenge(tx, Ceremony.REGISTER, account.user_id, now=now)
    raw, email = base64url_to_bytes(text), account.email or ""
    options = passkey_checks.creation_options(site, raw, user_id=account.user_id, email=email, known=known)
    return Challenge(text, options)


def register(
    uow: UnitOfWork,
    account: Account,
    answer: str,
    challenge: str,
    site: Site,
    *,
    name: str,
    session: str,
    now: datetime,
) -> None:
    """Store the new key.  session: the secret of the person's own.

    Raises: InvalidInput, Conflict, Unauthenticated, NotFound.  Locks: users row.
    """
    with _used_if_wrong(uow, Ceremony.REGISTER, challenge, account.user_id, now):
        key = passkey_checks.checked_registration(answer, site, base64url_to_bytes(challenge))
    with uow.begin() as tx:
        if users.lock(tx, account.user_id) is None:
            raise NotFound("No such user")
        if not _take(tx, Ceremony.REGISTER, challenge, account.user_id, now=now):
            raise InvalidInput(EXPIRED)
        check_caller.check(tx, account.user_id, session, now=now)
        if len(passkeys.of_user(tx, account.user_id)) >= MOST:
            raise Conflict(Message("The account has %(most)s passkeys; remove one that is not needed.", most=MOST))
        _add(tx, account.user_id, key, name, now=now)
        audit_log.add(tx, str(account.user_id), "passkey.add", str(account.user_id))


def begin_sign_in(uow: UnitOfWork, site: Site, *, client: str, secret: str, now: datetime) -> Challenge:
    """Ask for any passkey of this site.  client, secret: as in passwords.sign_in.  Raises: TooManyRequests."""
    count(uow, f"sign-in:{people.anonymous_id(client, secret)}", PER_ADDRESS)
    with uow.begin() as tx:
        text = _challenge(tx, Ceremony.SIGN_IN, None, now=now)
    return Challenge(text, passkey_checks.request_options(site, base64url_to_bytes(text)))


def sign_in(
    uow: UnitOfWork, answer: str, challenge: str, site: Site, *, elsewhere: Elsewhere = NOWHERE, now: datetime
) -> str:
    """Check the answer and open a session; the challenge is used up even if the answer is wrong.

    Returns: the secret of the session.  Raises: InvalidInput, Unauthenticated, Busy, ReadOnly.  Locks: users row.
    """
    _use(uow, Ceremony.SIGN_IN, challenge, None, now=now)
    return _follow(uow, answer, challenge, site, elsewhere, now=now)


def _follow(uow: UnitOfWork, answer: str, challenge: str, site: Site, elsewhere: Elsewhere, *, now: datetime) -> str:
    """Open a session where the account lives; it may move once more while this waits for it."""
    try:
        return _enter(uow, answer, challenge, site, now=now)
    except Unauthenticated:
        _, handle = passkey_checks.credential_of(answer)
        if handle is None or len(handle) != HANDLE_BYTES:
            raise
        with elsewhere.of_user(UUID(bytes=handle), but=uow) as there:
            if there is None:
                raise
            return _follow(there, answer, challenge, site, elsewhere, now=now)


def _enter(uow: UnitOfWork, answer: str, challenge: str, site: Site, *, now: datetime) -> str:
    """Open a session of the account whose passkey it is."""
    key, sign_count = _checked(uow, answer, challenge, site)
    session = _secret()
    with uow.begin() as tx:
        _note_use(tx, key, sign_count, now=now)
        open_sessions.add_session(tx, key.user_id, session, by=str(key.id), now=now, expires_at=now + SESSION_LIFE)
    return session


def begin_confirmation(uow: UnitOfWork, account: Account, site: Site, *, now: datetime) -> Challenge:
    """Ask a signed-in person for a passkey of their account."""
    with uow.begin() as tx:
        known = [bytes(row.credential_id) for row in passkeys.of_user(tx, account.user_id)]
        text = _challenge(tx, Ceremony.CONFIRM, account.user_id, now=now)
    return Challenge(text, passkey_checks.request_options(site, base64url_to_bytes(text), known=known))


def use(
    uow: UnitOfWork, answer: str, challenge: str, site: Site,
    *, user_id: UUID, then: Callable[[Tx, UUID], str], now: datetime,
) -> str:  # fmt: skip
    """Check the answer of a person who is signed in.  then: gets the id of the passkey, in the same transaction.

    Returns: its result.  Raises: InvalidInput, Unauthenticated, and as `then`.  Locks: users row.
    """
    with _used_if_wrong(uow, Ceremony.CONFIRM, challenge, user_id, now):
        key, sign_count = _checked(uow, answer, challenge, site)
        if key.user_id != user_id:
            raise Unauthenticated(UNKNOWN)
    with uow.begin() as tx:
        _note_use(tx, key, sign_count, now=now)
        if not _take(tx, Ceremony.CONFIRM, challenge, user_id, now=now):
            raise InvalidInput(EXPIRED)
        return then(tx, key.id)


def _checked(uow: UnitOfWork, answer: str, challenge: str, site: Site) -> tuple[StoredKey, int]:
    """Check the answer to a challenge that was used up.

    Returns: the key that answered, and its new sign count.  Raises: InvalidInput, Unauthenticated.
    """
    credential_id, handle = passkey_checks.credential_of(answer)
    with uow.begin() as tx:
        key = passkeys.find(tx, credential_id)
    if key is None or handle not in (None, key.user_id.bytes):
        raise Unauthenticated(UNKNOWN)
    return key, passkey_checks.checked_use(answer, key, site, base64url_to_bytes(challenge))


def _note_use(tx: Tx, key: StoredKey, sign_count: int, *, now: datetime) -> None:
    """Store the sign count.  Raises: Unauthenticated if the key was removed or used meanwhile.  Locks: users row."""
    users.lock_row(tx, key.user_id)
    if not passkeys.used(tx, key, sign_count=sign_count, now=now):
        raise Unauthenticated(UNKNOWN)


def begin_sign_up(uow: UnitOfWork, email: str, site: Site, *, client: str, secret: str, now: datetime) -> Challenge:
    """Ask for the first passkey of a new account.  Raises: InvalidInput, TooManyRequests."""
    people.check_email(email)
    count(uow, f"sign-up:{people.anonymous_id(client, secret)}", sign_up.PER_ADDRESS)
    user_id = uuid4()
    with uow.begin() as tx:
        text = _challenge(tx, Ceremony.SIGN_UP, None, now=now)
    options = passkey_checks.creation_options(site, base64url_to_bytes(text), user_id=user_id, email=email)
    return Challenge(text, options, user_id)


def sign_up_with(
    uow: UnitOfWork, answer: str, challenge: str, site: Site, *, user_id: UUID, email: str, name: str, tier: Tier,
    per_day: int, network: UUID, now: datetime,
) -> str:  # fmt: skip
    """Create the account that the challenge was for.  network: of the client (accounts.network_id).

    Returns: the secret of its first session.  Raises: InvalidInput, Conflict, TooManyRequests.
    """
    _use(uow, Ceremony.SIGN_UP, challenge, None, now=now)
    key, session = passkey_checks.checked_registration(answer, site, base64url_to_bytes(challenge)), _secret()
    with uow.begin() as tx:
        made = sign_up.new_account(tx, email, tier=tier, per_day=per_day, network=network, user_id=user_id, now=now)
        by = str(_add(tx, made, key, name, now=now))
        open_sessions.add_session(tx, made, session, by=by, now=now, expires_at=now + SESSION_LIFE)
    return session


def passkeys_of(uow: UnitOfWork, user_id: UUID) -> Sequence[Passkey]:
    """The user's passkeys, newest first."""
    with uow.begin() as tx:
        rows = passkeys.of_user(tx, user_id)
    return [Passkey(row.id, row.name, row.created_at, row.last_used_at) for row in rows]


def remove(uow: UnitOfWork, user_id: UUID, passkey_id: UUID, *, offers_github: bool) -> None:
    """Remove a passkey that is not the last way to sign in.  Raises: NotFound, Conflict.  Locks: users row."""
    with uow.begin() as tx:
        users.lock_row(tx, user_id)
        if not passkeys.remove(tx, user_id, passkey_id):
            raise NotFound("No such passkey")
        sign_in_methods.keep_one(tx, user_id, offers_github=offers_github)
        audit_log.add(tx, str(user_id), "passkey.remove", str(user_id))


def _challenge(tx: Tx, ceremony: Ceremony, user_id: UUID | None, *, now: datetime) -> str:
    text = bytes_to_base64url(secrets.token_bytes(32))
    one_time_secrets.add(tx, Purpose.PASSKEY, f"{ceremony}:{text}", user_id=user_id, expires_at=now + CHALLENGE_LIFE)
    return text


def _use(uow: UnitOfWork, ceremony: Ceremony, challenge: str, user_id: UUID | None, *, now: datetime) -> None:
    """Use a challenge up, in a transaction of its own, as a wrong answer uses it up as well.  Raises: InvalidInput."""
    with uow.begin() as tx:
        is_valid = _take(tx, ceremony, challenge, user_id, now=now)
    if not is_valid:
        raise InvalidInput(EXPIRED)


def _take(tx: Tx, ceremony: Ceremony, challenge: str, user_id: UUID | None, *, now: datetime) -> bool:
    found = one_time_secrets.use(tx, Purpose.PASSKEY, f"{ceremony}:{challenge}", now=now)
    return found is not None and found.user_id == user_id


@contextmanager
def _used_if_wrong(uow: UnitOfWork, ceremony: Ceremony, challenge: str, user_id: UUID, now: datetime) -> Iterator[None]:
    """Use a challenge up if its answer is refused.  Raises: InvalidInput.

    A right answer does that with what it proves, so an account that moves in between takes both along, or neither.
    """
    try:
        yield
    except (InvalidInput, Unauthenticated):
        _use(uow, ceremony, challenge, user_id, now=now)
        raise


def _add(tx: Tx, user_id: UUID, key: passkey_checks.NewKey, name: str, *, now: datetime) -> UUID:
    added = passkeys.add(
        tx,
        user_id,
        credential_id=key.credential_id,
        public_key=key.public_key,
        sign_count=key.sign_count,
        name=_name(name),
        now=now,
    )
    if added is None:
        raise Conflict("This passkey belongs to an account already.")
    return added


def _name(typed: str) -> str:
    """The user's name for a passkey."""
    shown = "".join(letter for letter in typed.strip() if letter.isprintable())[:LONGEST_NAME]
    return shown or "Passkey"


def _secret() -> str:
    return secrets.token_urlsafe(32)
