"""How a person can sign in to their account, of which one is always left."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from app.errors import Conflict, Message
from app.store.accounts import github_links, passkeys, passwords
from app.store.core.unit_of_work import Tx, UnitOfWork

LAST = Message("This is the only way left to sign in to this account. First set a password or add another way.")


@dataclass(frozen=True, slots=True)
class SignInMethods:
    """The ways in which an account can sign in.  has_github: it is linked, and the service offers it."""

    has_password: bool
    passkeys: int
    has_github: bool

    @property
    def count(self) -> int:
        """How many there are."""
        return self.has_password + self.passkeys + self.has_github


def sign_in_methods(tx: Tx, user_id: UUID, *, offers_github: bool) -> SignInMethods:
    """Read how the account can sign in.  A caller that acts on this has locked the users row."""
    return SignInMethods(
        passwords.hash_of(tx, user_id) is not None,
        len(passkeys.of_user(tx, user_id)),
        offers_github and github_links.of_user(tx, user_id) is not None,
    )


def keep_one(tx: Tx, user_id: UUID, *, offers_github: bool) -> None:
    """Called after a removal, in its transaction.  Raises: Conflict if nothing is left."""
    if not sign_in_methods(tx, user_id, offers_github=offers_github).count:
        raise Conflict(LAST)


def of_user(uow: UnitOfWork, user_id: UUID, *, offers_github: bool) -> SignInMethods:
    """The ways in of a user, to show them."""
    with uow.begin() as tx:
        return sign_in_methods(tx, user_id, offers_github=offers_github)
