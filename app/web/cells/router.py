"""A WSGI application that hands each request to the application of one cell (docs/adr/0096).

The application of a cell is the same as that of a service without cells.  It refuses an account that it does not have;
so an account that has moved is looked for again, and its request is repeated where it lives now.  A refusal changes
nothing, so nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import structlog
from flask import Flask
from werkzeug.datastructures import Headers
from werkzeug.test import run_wsgi_app

from app.domain.cells import cell_for
from app.errors import Message, Problem, TooManyRequests, Unavailable
from app.exchanges import EXCHANGE, Exchange, received
from app.services.cells.find_cell import AccountCells, CellAwayError, DirectoryAwayError
from app.services.cells.other_cells import NOT_LOOKED_UP, RETRY_SECONDS
from app.services.cells.threads import SilentError
from app.web.cells.credentials import NamedBy, Presented, presented
from app.web.core.auth import SAFE_METHODS
from app.web.core.residence import LIVES_HERE, UNPLACED, Residence

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIEnvironment

#: The cell that somebody wants to look at, for what is no account's.
CELL_PARAMETER = "cell"
#: Each cell has its own; they name one by the parameter above.
READY = "/readyz"
OF_A_CELL = frozenset({"/metrics", READY})
#: Lists of what is public, of which each cell has its own; without a name, it is that of the reader's cell.
LISTS = frozenset({"/explore"})
#: Of no account and no cell.
HEALTH, STATIC = "/healthz", "/static/"
#: Of an account that is not there, or of what it asks for.
REFUSALS = frozenset({HTTPStatus.UNAUTHORIZED, HTTPStatus.NOT_FOUND})
SILENT = Message("The database of this account does not answer at present; try again")
log = structlog.get_logger(__name__)


@dataclass
class _Answer:
    """What an application has answered; the rest of its body is still being made."""

    body: Iterable[bytes]
    status: str
    headers: Headers
    refusal: str | None
    tenant: str | None

    @property
    def code(self) -> int:
        return int(self.status[:3])

    @property
    def is_unsure(self) -> bool:
        """Whether the cell has not looked, as it is away or the client has asked too much."""
        return self.code >= HTTPStatus.INTERNAL_SERVER_ERROR or self.code == HTTPStatus.TOO_MANY_REQUESTS

    def close(self) -> None:
        if (close := getattr(self.body, "close", None)) is not None:
            close()


class CellRouter:
    """Answers each request by the application of one cell.

    apps: those of all cells, by their names; places: who lives where; own: the cell of this process.
    visitor: names the client of an environ, whose cell is chosen by it; may_ask: raises TooManyRequests if that client
    may not have looked up what it presents.
    """

    def __init__(
        self,
        apps: Mapping[str, Flask],
        places: AccountCells,
        *,
        own: str,
        visitor: Callable[[WSGIEnvironment], str],
        may_ask: Callable[[WSGIEnvironment, NamedBy], None],
    ) -> None:
        self._apps, self._places, self._own = apps, places, own
        self._visitor, self._may_ask = visitor, may_ask

    def __call__(self, environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        """Answer one request.  Its body can be read again from the beginning (app/server/environ.py)."""
        if EXCHANGE not in environ:
            received(environ)
        answer = self._answer(environ)
        exchange: Exchange = environ[EXCHANGE]  # which has seen the answers that are not sent, too
        exchange.refusal, exchange.tenant = answer.refusal, answer.tenant
        start_response(answer.status, answer.headers.to_wsgi_list())
        return answer.body

    def _answer(self, environ: WSGIEnvironment) -> _Answer:
        path = environ["PATH_INFO"]
        if path == HEALTH or path.startswith(STATIC):
            return self._run(self._own, environ)
        if path in LISTS and (named := self._named(environ)):
            return self._ask(named, environ)
        return self._of_a_cell(environ) if path in OF_A_CELL else self._placed(environ)

    def _placed(self, environ: WSGIEnvironment) -> _Answer:
        who = presented(self._apps[self._own], environ)
        try:
            cell = self._cell_of(who, environ)
            if cell is None:
                answer = self._elsewhere(cell := self._visitors(environ), environ)
            elif who.key and who.by is not NamedBy.LINK:
                answer = self._follow(who.key, cell, environ)
            else:  # a link is looked up each time
                answer = self._ask(cell, environ)
        except CellAwayError as away:
            return self._ask(away.cell, environ)  # its application says that its database is away
        except DirectoryAwayError:
            return self._refuse(environ, Unavailable(NOT_LOOKED_UP, retry_after=RETRY_SECONDS))
        except TooManyRequests as problem:
            return self._refuse(environ, problem)
        if who.before and answer.code == HTTPStatus.SEE_OTHER:
            self._places.sign_out(who.before, but=cell)  # the application has ended it if it was of the same cell
        return answer

    def _follow(self, key: bytes, cell: str, environ: WSGIEnvironment) -> _Answer:
        """Ask the account's cell; if it does not have the account any more, the one to which that has moved.

        Of several refusals, that of a cell counts which has the account.  Raises: DirectoryAwayError.
        """
        refusing, refusal, known = list[str](), None, None
        following: str | None = cell
        while following:
            refusing.append(cell := following)
            home = Residence()
            answer = self._ask(cell, environ | {LIVES_HERE: home})
            if answer.code not in REFUSALS:
                if answer.is_unsure and known:  # the account is still where it is known
                    answer.close()
                    break
                if not answer.is_unsure:
                    self._places.lives_in(key, cell)
                _close(refusal)
                return answer
            if home.is_unknown:
                answer.close()
            else:
                self._places.lives_in(key, cell)
                _close(refusal)
                refusal, known = answer, cell
            following = self._after(key, refusing, knows=known is not None)
        if known is None:  # the session or token has ended, as it may without cells; nothing was done yet
            return self._elsewhere(self._visitors(environ), environ)
        return self._elsewhere(known, environ, refusal)

    def _after(self, key: bytes, refusing: Sequence[str], *, knows: bool) -> str | None:
        try:
            return self._places.after_refusal(key, refusing)
        except DirectoryAwayError:
            if knows:
                return None
            raise

    def _elsewhere(self, cell: str, environ: WSGIEnvironment, answer: _Answer | None = None) -> _Answer:
        """Ask a cell, and for what it does not have the others, as a visitor does: what is public is there for all.

        A session is unknown in the others.  It is sent there all the same: its form token and the language hold
        everywhere, and an answer may set the cookie again, which would otherwise be without the session.
        """
        answer = answer or self._ask(cell, environ)
        is_routed = environ[EXCHANGE].route is not None
        if answer.code != HTTPStatus.NOT_FOUND or not is_routed or environ["REQUEST_METHOD"] not in SAFE_METHODS:
            return answer
        stranger = {name: value for name, value in environ.items() if name != "HTTP_AUTHORIZATION"}
        for other in sorted(self._apps.keys() - {cell}, key=lambda name: self._places.threads[name].is_silent):
            found = self._ask(other, stranger)
            if found.code < HTTPStatus.BAD_REQUEST or (found.is_unsure and answer.code == HTTPStatus.NOT_FOUND):
                answer.close()
                answer = found
            else:
                found.close()
            if answer.code < HTTPStatus.BAD_REQUEST:
                break
        return answer

    def _cell_of(self, who: Presented, environ: WSGIEnvironment) -> str | None:
        """Where the account lives, or the way in was begun; None for a visitor.

        Raises: CellAwayError, DirectoryAwayError, TooManyRequests.
        """
        if who.key and who.by is not NamedBy.LINK and (cell := self._places.remembered(who.key)):
            return cell
        if who.began in self._apps:
            return who.began
        self._may_ask(environ, who.by)
        if who.email:
            return self._places.of_address(who.email)
        return self._places.of_key(who.key) if who.key else None

    def _of_a_cell(self, environ: WSGIEnvironment) -> _Answer:
        """Ask the cell that is named.  Without a name, a web is ready if one of its cells is."""
        if named := self._named(environ):
            return self._ask(named, environ)
        names = sorted(self._apps, key=lambda cell: (self._places.threads[cell].is_silent, cell != self._own))
        answer = self._ask(names[0] if environ["PATH_INFO"] == READY else self._own, environ)
        for cell in names[1:] if environ["PATH_INFO"] == READY else ():
            if answer.code != HTTPStatus.SERVICE_UNAVAILABLE:
                break
            answer.close()
            answer = self._ask(cell, environ)
        return answer

    def _named(self, environ: WSGIEnvironment) -> str | None:
        """The cell that the query names."""
        named = parse_qs(environ.get("QUERY_STRING", "")).get(CELL_PARAMETER, [""])[0]
        return named if named in self._apps else None

    def _visitors(self, environ: WSGIEnvironment) -> str:
        return cell_for(self._visitor(environ), self._apps)

    def _ask(self, cell: str, environ: WSGIEnvironment) -> _Answer:
        if cell not in self._apps:
            log.warning("cell_unknown", cell=cell)
            return self._refuse(environ, Unavailable(NOT_LOOKED_UP, retry_after=RETRY_SECONDS))
        try:
            with self._places.threads[cell].one() as held:
                answer = self._run(cell, environ)
                held.is_answered = environ[EXCHANGE].refusal != Unavailable.slug
                return answer
        except SilentError:
            log.warning("cell_silent", cell=cell)
            return self._refuse(environ, Unavailable(SILENT, retry_after=RETRY_SECONDS), but=cell)

    def _refuse(self, environ: WSGIEnvironment, problem: Problem, *, but: str | None = None) -> _Answer:
        """Let an application answer with a problem.  but: a cell that does not answer."""
        cell = next((name for name in self._apps if name != but), self._own)
        return self._run(cell, environ | {UNPLACED: problem})

    def _run(self, cell: str, environ: WSGIEnvironment) -> _Answer:
        environ["wsgi.input"].seek(0)
        exchange: Exchange = environ[EXCHANGE]
        exchange.refusal = None  # of the answer before
        answered = run_wsgi_app(self._apps[cell], environ)
        return _Answer(*answered, refusal=exchange.refusal, tenant=exchange.tenant)


def _close(answer: _Answer | None) -> None:
    if answer is not None:
        answer.close()
