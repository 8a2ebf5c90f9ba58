"""Accounts that sign in where their browser is unknown, of a service with several databases (docs/adr/0096)."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Protocol
from uuid import UUID

from app.store.core.unit_of_work import UnitOfWork


class Elsewhere(Protocol):
    """Finds the database of an account that may not be in that of the request.

    Each gives transactions there; None if the account lives here, or there is none.  Raises: Busy if a database that
    may have it does not answer; ReadOnly if it takes no changes.
    """

    @property
    def own(self) -> str:
        """The name of the cell of the request; empty for a service with one database."""
        ...

    @property
    def others(self) -> Sequence[str]:
        """The names of all other cells."""
        ...

    def of_user(self, user_id: UUID, *, but: UnitOfWork) -> AbstractContextManager[UnitOfWork | None]:
        """Find an account by its id, which a passkey keeps.  but: where it is not, instead of here."""
        ...

    def of_address(self, email: str, *, but: UnitOfWork) -> AbstractContextManager[UnitOfWork | None]:
        """Find an account by its e-mail address.  but: where it is not, instead of here."""
        ...

    def of_github(self, github_id: int) -> AbstractContextManager[UnitOfWork | None]:
        """Find the account that a GitHub account signs in to."""
        ...

    def claim_github(self, github_id: int, user_id: UUID, email: str) -> bool:
        """Let one account be linked to a GitHub account, before the link commits; False if another one is.

        email: of the account.  The caller has locked its users row, or is making it.  Raises: Busy.
        """
        ...


class Nowhere:
    """Finds no account, as the one database has all of them."""

    own, others = "", ()

    def of_user(self, user_id: UUID, *, but: UnitOfWork) -> AbstractContextManager[None]:  # noqa: ARG002 - the protocol's
        """Find nothing."""
        return nullcontext()

    def of_address(self, email: str, *, but: UnitOfWork) -> AbstractContextManager[None]:  # noqa: ARG002 - the protocol's
        """Find nothing."""
        return nullcontext()

    def of_github(self, github_id: int) -> AbstractContextManager[None]:  # noqa: ARG002 - the protocol's
        """Find nothing."""
        return nullcontext()

    def claim_github(self, github_id: int, user_id: UUID, email: str) -> bool:  # noqa: ARG002 - the protocol's
        """Claim nothing: the one database has a unique index."""
        return True


NOWHERE = Nowhere()
