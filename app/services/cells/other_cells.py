"""The cells to which somebody signs in whose browser is not known to live there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from uuid import UUID

import structlog
from sqlalchemy import Engine
from sqlalchemy.exc import SQLAlchemyError

from app.errors import Busy, Message
from app.services.cells.claim_github import claim_github
from app.services.cells.find_cell import AccountCells, CellAwayError, DirectoryAwayError
from app.services.cells.threads import RETRY_SECONDS, SilentError
from app.services.operations import read_only
from app.store.core.unit_of_work import UnitOfWork

NOT_LOOKED_UP = Message("Where this account lives cannot be looked up at present; try again")
log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class OtherCells:
    """Finds accounts for the application of one cell.  It implements app/services/accounts/elsewhere.py."""

    places: AccountCells
    own: str

    @property
    def others(self) -> list[str]:
        """The names of all cells but this one."""
        return sorted(self.places.threads.keys() - {self.own})

    def of_user(self, user_id: UUID, *, but: UnitOfWork) -> AbstractContextManager[UnitOfWork | None]:
        """Transactions in the cell of an account.  Raises: Busy, ReadOnly."""
        return self._in(lambda: self.places.of_user(user_id), but.engine)

    def of_address(self, email: str, *, but: UnitOfWork) -> AbstractContextManager[UnitOfWork | None]:
        """Transactions in the cell of the account with an e-mail address.  Raises: Busy, ReadOnly."""
        return self._in(lambda: self.places.of_address(email), but.engine)

    def of_github(self, github_id: int) -> AbstractContextManager[UnitOfWork | None]:
        """Transactions in the cell of the account that is linked to a GitHub account.  Raises: Busy, ReadOnly."""
        own = self.places.cells.uows[self.own].engine
        return self._in(lambda: self.places.of_github(github_id, self.own), own)

    def claim_github(self, github_id: int, user_id: UUID, email: str) -> bool:
        """Note a link in the directory before it is made; False if another account has it.  Raises: Busy."""
        with _busy():
            return claim_github(self.places, self.own, github_id, user_id, email)

    @contextmanager
    def _in(self, find: Callable[[], str | None], but: Engine) -> Iterator[UnitOfWork | None]:
        with _busy():
            cell = find()
        uow = self.places.cells.uows.get(cell or "")
        if cell is None or (uow and uow.engine is but):
            yield None
            return
        with _busy(), self.places.answering(cell) as there:
            if why := read_only.known(there):  # the web has asked its own cell alone (app/web/core/read_only.py)
                raise read_only.refuse(why)
            yield there


@contextmanager
def _busy() -> Iterator[None]:
    """Say that another database does not answer.  It must not count as silence of the request's own cell."""
    try:
        yield
    except (SQLAlchemyError, SilentError, CellAwayError, DirectoryAwayError) as error:
        log.warning("cell_not_asked", error=type(error).__name__)
        raise Busy(NOT_LOOKED_UP, retry_after=RETRY_SECONDS) from error
