"""Links with which anybody may read a specification, until its owner withdraws them."""

from __future__ import annotations

import hashlib
import secrets
from datetime import datetime
from uuid import UUID

from app.domain.queues import Service
from app.errors import Forbidden, NotFound
from app.services.jobs.visibility import check_visible
from app.services.specifications.documents import Head, completed
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.core.unit_of_work import UnitOfWork
from app.store.specifications import spec_shares

SHARE_PREFIX = "fs_"


def make(uow: UnitOfWork, document_id: UUID, viewer: Account, *, now: datetime) -> str:
    """Create a link with which anybody may read the document; it replaces an earlier one.

    It is shown once; only its hash is stored.  Raises: NotFound; Forbidden for an operator who is not the owner, and
    for a private repository; Conflict while the document has not completed.  Locks: users row.
    """
    secret = SHARE_PREFIX + secrets.token_urlsafe(32)
    with uow.begin() as tx:
        users.lock_row(tx, viewer.user_id)  # an account that is moved to another cell meanwhile has no document here
        check_visible(tx, document_id, viewer, Service.SPECVIEW)
        found = completed(tx, document_id)
        if found.owner_id != viewer.user_id:
            raise Forbidden("Only its owner may share a specification")
        if found.is_private:
            raise Forbidden("The repository is private, so its specifications cannot be shared")
        spec_shares.put(tx, document_id, _hash(secret), now=now)
    return secret


def withdraw(uow: UnitOfWork, document_id: UUID, viewer: Account) -> None:
    """Withdraw the link of a document; idempotent.  Raises: NotFound.  Locks: users row of the owner."""
    with uow.begin() as tx:
        owner = check_visible(tx, document_id, viewer, Service.SPECVIEW).user_id
        # the link of an owner who is moved to another cell meanwhile opens the document there
        if owner is None or users.lock(tx, owner) is None:
            raise NotFound("No such job")
        spec_shares.drop(tx, document_id)


def made_at(uow: UnitOfWork, document_id: UUID, viewer: Account) -> datetime | None:
    """When the document was shared with a link; None: only its owner can read it.  Raises: NotFound."""
    with uow.begin() as tx:
        check_visible(tx, document_id, viewer, Service.SPECVIEW)
        return spec_shares.since(tx, document_id)


def document_of(uow: UnitOfWork, secret: str) -> Head:
    """The document of a link.

    Raises: NotFound, also for a withdrawn link, and while the repository is private.
    """
    with uow.begin() as tx:
        document_id = spec_shares.find(tx, _hash(secret))
        found = completed(tx, document_id) if document_id else None
    if found is None or found.is_private:
        raise NotFound("No such link; it may have been withdrawn")
    return found


def _hash(secret: str) -> bytes:
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()
