"""A WSGI application that hands each request to the application of one cell (docs/adr/0096).

The application of a cell is the same as that of a service without cells.  It refuses an account that it does not have;
so an account that has moved is looked for again, and its request is repeated where it lives now.  A refusal changes
nothing, so nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import structlog
from flask import Flask
from sqlalchemy.exc import SQLAlchemyError
from werkzeug.datastructures import Headers
from werkzeug.test import run_wsgi_app

from app.domain.cells import cell_for
from app.errors import Message
from app.services.cells.find_place import CellAwayError, Places
from app.web.cells.credentials import Presented, presented
from app.web.cells.threads import CellThreads, SilentError
from app.web.core.auth import LIVES_HERE, SAFE_METHODS, UNPLACED

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

#: An operator's or a program's word for the cell that it wants to look at, for what is no account's.
CELL_PARAMETER = "cell"
#: Each cell has its own; they name one by the parameter above.
OF_A_CELL = frozenset({"/metrics", "/readyz"})
NOT_LOOKED_UP = Message("Where this account lives cannot be looked up at present; try again")
SILENT = Message("The database of this account does not answer at present; try again")
log = structlog.get_logger(__name__)
_CREDENTIALS = ("HTTP_AUTHORIZATION", "HTTP_COOKIE")


@dataclass
class _Answer:
    """What an application has answered; the rest of its body is still being made."""

    body: Iterable[bytes]
    status: str
    headers: Headers

    @property
    def code(self) -> int:
        return int(self.status[:3])

    def close(self) -> None:
        if (close := getattr(self.body, "close", None)) is not None:
            close()


class CellRouter:
    """apps: the application of each cell, by its name; places: who lives where; own: the cell of this process.

    visitor: names the client of an environ, whose cell is chosen by it; may_ask: whether the client of an environ may
    have a key looked up that this process does not know, or has sent too many bad ones.
    """

    def __init__(
        self,
        apps: Mapping[str, Flask],
        places: Places,
        *,
        own: str,
        visitor: Callable[[WSGIEnvironment], str],
        may_ask: Callable[[WSGIEnvironment], bool],
    ) -> None:
        self._apps, self._places, self._own = apps, places, own
        self._visitor, self._may_ask = visitor, may_ask
        self._threads = {cell: CellThreads() for cell in apps}

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request.  Its body can be read again from the beginning (app/server/environ.py)."""
        answer = self._answer(environ)
        start_response(answer.status, answer.headers.to_wsgi_list())
        return answer.body

    def _answer(self, environ: WSGIEnvironment) -> _Answer:
        if environ["PATH_INFO"] in OF_A_CELL:
            return self._ask(self._named(environ), environ)
        who = presented(self._apps[self._own], environ)
        try:
            cell = self._cell_of(who, environ)
            if cell is None:
                return self._elsewhere(self._visitors(environ), environ)
            return self._follow(who.key, cell, environ) if who.key else self._ask(cell, environ)
        except CellAwayError as away:
            return self._ask(away.cell, environ)  # its application says that its database is away
        except SQLAlchemyError as error:
            log.warning("directory_away", error=type(error).__name__)
            return self._ask(self._visitors(environ), environ | {UNPLACED: NOT_LOOKED_UP})

    def _follow(self, key: bytes, cell: str, environ: WSGIEnvironment) -> _Answer:
        """Ask the account's cell; if it does not have the account any more, the one to which that has moved."""
        answer = self._ask(cell, environ | {LIVES_HERE: True})
        if answer.code not in {HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND}:
            return answer
        moved = self._places.after_refusal(key, cell)
        if moved:
            answer.close()
            return self._ask(moved, environ)
        if answer.code == HTTPStatus.UNAUTHORIZED:  # the session or token has ended, as it may without cells
            answer.close()
            return self._ask(cell, environ)
        return self._elsewhere(cell, environ, answer)

    def _elsewhere(self, cell: str, environ: WSGIEnvironment, answer: _Answer | None = None) -> _Answer:
        """Ask a cell, and for what it does not have the others, as a visitor does: what is public is there for all."""
        answer = answer or self._ask(cell, environ)
        if answer.code != HTTPStatus.NOT_FOUND or environ["REQUEST_METHOD"] not in SAFE_METHODS:
            return answer
        stranger = {name: value for name, value in environ.items() if name not in _CREDENTIALS}
        for other in self._apps.keys() - {cell}:
            found = self._ask(other, stranger)
            if found.code < HTTPStatus.BAD_REQUEST:
                answer.close()
                return found
            found.close()
        return answer

    def _cell_of(self, who: Presented, environ: WSGIEnvironment) -> str | None:
        """Where the account lives, None for a visitor.  Raises: CellAwayError, SQLAlchemyError."""
        if who.key and (cell := self._places.remembered(who.key)):
            return cell
        if who == Presented() or not self._may_ask(environ):
            return None
        return self._places.of_key(who.key) if who.key else self._places.of_address(who.email or "")

    def _visitors(self, environ: WSGIEnvironment) -> str:
        return cell_for(self._visitor(environ), self._apps)

    def _named(self, environ: WSGIEnvironment) -> str:
        named = parse_qs(environ.get("QUERY_STRING", "")).get(CELL_PARAMETER, [self._own])[0]
        return named if named in self._apps else self._own

    def _ask(self, cell: str, environ: WSGIEnvironment) -> _Answer:
        environ["wsgi.input"].seek(0)
        try:
            with self._threads[cell].one():
                return _Answer(*run_wsgi_app(self._apps[cell], environ))
        except SilentError:
            log.warning("cell_silent", cell=cell)
            other = next((name for name in self._apps if name != cell), cell)
            return _Answer(*run_wsgi_app(self._apps[other], environ | {UNPLACED: SILENT}))
