"""The cells to which somebody signs in whose browser is not known to live there."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.errors import Busy, Message
from app.services.cells.find_cell import AccountCells, CellAwayError, DirectoryAwayError
from app.services.cells.threads import SilentError
from app.store.core.unit_of_work import UnitOfWork

RETRY_SECONDS = 2
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

    def of_user(self, user_id: UUID) -> AbstractContextManager[UnitOfWork | None]:
        """Transactions in the cell of an account.  Raises: Busy."""
        return self._in(lambda: self.places.of_user(user_id))

    def of_github(self, github_id: int) -> AbstractContextManager[UnitOfWork | None]:
        """Transactions in the cell of the account that is linked to a GitHub account.  Raises: Busy."""
        return self._in(lambda: self.places.of_github(github_id, self.own))

    @contextmanager
    def _in(self, find: Callable[[], str | None]) -> Iterator[UnitOfWork | None]:
        with _busy():
            cell = find()
        if cell in {None, self.own}:
            yield None
            return
        with _busy(), self.places.answering(cell or "") as uow:
            yield uow


@contextmanager
def _busy() -> Iterator[None]:
    """Say that another database does not answer.  It must not count as silence of the request's own cell."""
    try:
        yield
    except (SQLAlchemyError, SilentError, CellAwayError, DirectoryAwayError) as error:
        log.warning("cell_not_asked", error=type(error).__name__)
        raise Busy(NOT_LOOKED_UP, retry_after=RETRY_SECONDS) from error
