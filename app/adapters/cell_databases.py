"""The databases of all cells, for processes that work on several: the command line and maintenance."""

from __future__ import annotations

from sqlalchemy import Engine

from app.database import directory_url
from app.errors import BadSetting
from app.services.cells.cells import Cells
from app.settings import Settings
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork


def cells_of(settings: Settings, own: UnitOfWork, application_name: str) -> Cells:
    """All cells and the directory, with a connection or two each; none is opened yet.

    A move holds a session of the directory beside its transactions there, so that has two that stay.

    own: transactions in this process's cell, whose publisher the others share.  Raises: BadSetting without CELLS.
    """
    if settings.cell is None:
        raise BadSetting("CELLS: expected the cells of the service; without them there is only one database")

    def engine(url: str, size: int = 1) -> Engine:
        return make_engine(url, pool_size=size, application_name=application_name)

    others = {name: url for name, url in settings.cell_addresses.items() if name != settings.cell}
    uows = {name: UnitOfWork(engine(url), own.publisher) for name, url in others.items()}
    return Cells(settings.cell, uows | {settings.cell: own}, UnitOfWork(engine(directory_url(settings), 2)))
