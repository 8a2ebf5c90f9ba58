"""Keep an account from being deleted while it moves."""

from __future__ import annotations

from uuid import UUID

import structlog
from sqlalchemy.exc import SQLAlchemyError

from app.errors import Busy, Message
from app.services.cells.other_cells import NOT_LOOKED_UP
from app.services.cells.threads import RETRY_SECONDS
from app.store.cells import directory
from app.store.core.unit_of_work import UnitOfWork

MOVES = Message("This account is moving at present; try again in a moment")
log = structlog.get_logger(__name__)


def refuse_moving(directory_uow: UnitOfWork, user_id: UUID) -> None:
    """Refuse to delete an account of which the directory says that it moves.

    It may have arrived before the cell that it leaves has ended its part: deleted here, it would live on there.
    The caller has locked the users row, so a move that begins later finds that the account is closed.  Raises: Busy.
    """
    try:
        with directory_uow.once() as tx:
            place = directory.place_of(tx, user_id)
    except SQLAlchemyError as error:
        log.warning("directory_away", error=type(error).__name__)
        raise Busy(NOT_LOOKED_UP, retry_after=RETRY_SECONDS) from error
    if place and place.moving_to is not None:
        raise Busy(MOVES, retry_after=RETRY_SECONDS)
