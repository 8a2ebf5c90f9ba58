"""Sign in with a link, see one's sessions, and sign out."""

from __future__ import annotations

import secrets
from datetime import datetime, timedelta
from uuid import UUID

from app.errors import ConfirmationNeeded, Message, NotFound, Unauthenticated
from app.services.accounts import verified_addresses
from app.store.accounts import open_sessions, users
from app.store.accounts.open_sessions import OpenSession, Proof, Way
from app.store.accounts.users import Account
from app.store.core.unit_of_work import Tx, UnitOfWork
from app.store.operations import audit_log

SESSION_LIFE, LINK_LIFE = timedelta(days=14), timedelta(days=1)
#: How long after a proof a session may add ways in, tokens and webhooks.
PROOF_LIFE = timedelta(minutes=5)
SESSION_ENDED = Message("Your session has ended; sign in again")


def sign_in_link(uow: UnitOfWork, user_id: UUID, *, actor: str, now: datetime) -> str:
    """Make a secret that signs the user in once, within a day.  actor: for the audit log."""
    secret = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        open_sessions.add_link(tx, user_id, secret, expires_at=now + LINK_LIFE)
        audit_log.add(tx, actor, "user.link", str(user_id), sets_password=False)
    return secret


def sign_in(uow: UnitOfWork, link_secret: str, *, now: datetime) -> str | None:
    """Use up a link, which verifies the address: an operator gave it to a person whom they know.

    Returns: the secret of a new session, None if the link was used before or has expired.  Locks: users row.
    """
    secret = secrets.token_urlsafe(32)
    with uow.begin() as tx:
        user_id = open_sessions.link_owner(tx, link_secret, now=now)
        if user_id is None:
            return None
        users.lock_row(tx, user_id)
        if open_sessions.use_link(tx, link_secret, now=now) is None:
            return None
        verified_addresses.verify(tx, user_id, now=now)
        open_sessions.add_session(tx, user_id, secret, by=Way.LINK, now=now, expires_at=now + SESSION_LIFE)
    return secret


def by_session(uow: UnitOfWork, secret: str, *, idle: timedelta = SESSION_LIFE, now: datetime) -> Account | None:
    """The user of a session.  idle: how long after its last use a session ends."""
    with uow.begin() as tx:
        user_id = open_sessions.session_user(tx, secret, used_since=now - idle, now=now)
        return users.find(tx, user_id) if user_id else None


def sessions_of(
    uow: UnitOfWork, user_id: UUID, own: str, *, idle: timedelta = SESSION_LIFE, now: datetime
) -> list[OpenSession]:
    """The user's open sessions, newest first.  own: the secret of the one that asks; idle: as in by_session."""
    with uow.begin() as tx:
        return open_sessions.sessions_of(tx, user_id, own, used_since=now - idle, now=now)


def is_fresh(uow: UnitOfWork, secret: str, *, now: datetime) -> bool:
    """Whether the person of this session has just proved who they are."""
    with uow.begin() as tx:
        proof = open_sessions.proof_of(tx, secret)
    return _is_fresh(proof, now)


def require_fresh(uow: UnitOfWork, secret: str, *, now: datetime) -> None:
    """Require a recent proof, because the cookie may be a copy in other hands.

    Raises: ConfirmationNeeded; Unauthenticated if the session has ended, or moved with its account.
    """
    with uow.begin() as tx:
        proof = open_sessions.proof_of(tx, secret)
    if proof is None:
        raise Unauthenticated(SESSION_ENDED)
    if not _is_fresh(proof, now):
        raise ConfirmationNeeded


def _is_fresh(proof: Proof | None, now: datetime) -> bool:
    return proof is not None and proof.at is not None and proof.at > now - PROOF_LIFE


def renew(tx: Tx, user_id: UUID, old: str, *, by: str, now: datetime) -> str:
    """Note a proof, and give the session another secret.  The caller has locked the users row.

    Returns: the new secret.  Raises: Unauthenticated, if the session has ended.
    """
    new = secrets.token_urlsafe(32)
    if not open_sessions.renew_session(tx, user_id, old, new, by=by, now=now):
        raise Unauthenticated(SESSION_ENDED)
    return new


def end(uow: UnitOfWork, user_id: UUID, session_id: UUID) -> None:
    """End one of the user's sessions.  Raises: NotFound."""
    with uow.begin() as tx:
        if not open_sessions.end_named_session(tx, user_id, session_id):
            raise NotFound("No such session")


def sign_out(uow: UnitOfWork, secret: str) -> bool:
    """End a session; idempotent.  Returns: False if there was none, as it may have moved with its account."""
    with uow.begin() as tx:
        return open_sessions.end_session(tx, secret)
