"""A fresh proof of who somebody is, which a session needs to add ways in, tokens and webhooks (docs/adr/0057)."""

from __future__ import annotations

from datetime import datetime
from uuid import UUID

from app.errors import InvalidInput, Message
from app.services.accounts import passkeys, passwords, sessions
from app.services.accounts.passkey_checks import Site
from app.store.accounts import users
from app.store.accounts.open_sessions import Way
from app.store.core.unit_of_work import Tx, UnitOfWork

NO_PASSWORD = Message("This account has no password. Confirm in another way.")


def by_password(uow: UnitOfWork, user_id: UUID, password: str, *, session: str, now: datetime) -> str:
    """Prove it with the password.

    session: the secret of the person's own.  Returns: its new one, because there may be copies of the old one.
    Raises: as passwords.confirm; Unauthenticated if the session ended.  Locks: users row.
    """
    if passwords.confirm(uow, user_id, password) is None:
        raise InvalidInput(NO_PASSWORD)
    return _renew(uow, user_id, session, by=Way.PASSWORD, now=now)


def by_passkey(
    uow: UnitOfWork, user_id: UUID, answer: str, challenge: str, site: Site, *, session: str, now: datetime
) -> str:
    """Prove it with a passkey of the account.  session, Returns, Locks: as by_password.

    Raises: InvalidInput, Unauthenticated.
    """

    def renew(tx: Tx, used: UUID) -> str:
        return sessions.renew(tx, user_id, session, by=str(used), now=now)

    return passkeys.use(uow, answer, challenge, site, user_id=user_id, then=renew, now=now)


def require(uow: UnitOfWork, user_id: UUID, password: str, *, session: str, now: datetime) -> None:
    """Compare the password that was typed with a request; of an account without one, the proof must be fresh.

    Raises: as passwords.confirm, ConfirmationNeeded.
    """
    if passwords.confirm(uow, user_id, password) is None:
        sessions.require_fresh(uow, session, now=now)


def _renew(uow: UnitOfWork, user_id: UUID, session: str, *, by: str, now: datetime) -> str:
    with uow.begin() as tx:
        users.lock_row(tx, user_id)
        return sessions.renew(tx, user_id, session, by=by, now=now)
