"""A process that moves an account and kills itself before one of its statements, as a machine that dies."""

from __future__ import annotations

import os
import signal
from typing import Any
from uuid import UUID

import psycopg2.extensions
from sqlalchemy import Engine, event

from app.services.cells.move_account import move
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World


class _Statements:
    """Counts what both sessions send."""

    def __init__(self, last: int) -> None:
        self.left = last

    def engine(self, url: str) -> Engine:
        counted = self

        class Cursor(psycopg2.extensions.cursor):
            def execute(self, query: Any, vars: Any = None) -> None:  # noqa: A002 - psycopg2's name
                counted.left -= 1
                if counted.left < 0:
                    os.kill(os.getpid(), signal.SIGKILL)
                super().execute(query, vars)

        engine = make_engine(url, pool_size=2)

        @event.listens_for(engine, "do_connect")
        def counting(_dialect: Any, _record: Any, _arguments: Any, options: dict[str, Any]) -> None:
            options.update(cursor_factory=Cursor)

        return engine


def killed(source: World, target: World, user: UUID, *, epoch: int, after: int) -> bool:
    """Move an account in a process that dies after so many statements; -> whether it died."""
    child = os.fork()
    if not child:
        status = 1
        try:
            statements = _Statements(after)
            cells = [
                UnitOfWork(
                    statements.engine(world.uow.engine.url.render_as_string(hide_password=False)),
                    world.uow.publisher,
                    pipelined=False,
                )
                for world in (source, target)
            ]
            move(*cells, user, epoch=epoch)
            status = 0
        finally:
            os._exit(status)
    _, how = os.waitpid(child, 0)
    assert os.WIFSIGNALED(how) or os.WEXITSTATUS(how) == 0, "the move failed"
    return os.WIFSIGNALED(how)
