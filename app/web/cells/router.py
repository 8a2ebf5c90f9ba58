"""A WSGI application that hands each request to the application of one cell (docs/adr/0096).

The application of a cell is the same as that of a service without cells.  It refuses an account that it does not have;
so an account that has moved is looked for again, and its request is repeated where it lives now.  A refusal changes
nothing, so nothing is done twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING
from urllib.parse import parse_qs

import structlog
from flask import Flask
from werkzeug.test import run_wsgi_app

from app.domain.cells import cell_for
from app.errors import Problem, ReadOnly, TooManyRequests, Unavailable
from app.exchanges import EXCHANGE, Exchange, received
from app.services.cells.find_cell import AccountCells, CellAwayError, DirectoryAwayError
from app.services.cells.other_cells import NOT_LOOKED_UP
from app.services.cells.threads import RETRY_SECONDS, SILENT, SilentError
from app.web.cells.answers import CellAnswer
from app.web.cells.credentials import NamedBy, Presented, presented
from app.web.core.auth import SAFE_METHODS
from app.web.core.departures import is_refusal
from app.web.core.residence import LET_GO, LIVES_HERE, UNPLACED, Residence

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
#: Of a cell that has not looked whether it has the account.
UNSEEN = frozenset({Unavailable.slug, ReadOnly.slug})
log = structlog.get_logger(__name__)


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
        self.apps, self._places, self._own = apps, places, own
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

    def _answer(self, environ: WSGIEnvironment) -> CellAnswer:
        path = environ["PATH_INFO"]
        if path == HEALTH or path.startswith(STATIC):
            return self._run(self._own, environ | {UNPLACED: None})
        if path in LISTS and (named := self._named(environ)):
            return self._ask(named, environ)
        return self._of_a_cell(environ) if path in OF_A_CELL else self._placed(environ)

    def _placed(self, environ: WSGIEnvironment) -> CellAnswer:
        who = presented(self.apps[self._own], environ)
        try:
            cell = self._cell_of(who, environ)
            if cell is None:
                answer = self._elsewhere(cell := self._visitors(environ), environ)
            elif who.key and who.by is not NamedBy.LINK:
                answer = self._follow(who.key, cell, environ)
            else:  # a link is looked up each time
                answer = self._ask(cell, environ)
            answer, cell = self._look_again(who, cell, answer, environ)
        except CellAwayError as away:
            return self._ask(away.cell, environ)  # its application says that its database is away
        except DirectoryAwayError:
            return self._refuse(environ, Unavailable(NOT_LOOKED_UP, retry_after=RETRY_SECONDS))
        except TooManyRequests as problem:
            return self._refuse(environ, problem)
        if who.before and answer.code == HTTPStatus.SEE_OTHER:
            self._places.sign_out(who.before, but=cell)  # the application has ended it if it was of the same cell
        return answer

    def _look_again(
        self, who: Presented, cell: str, answer: CellAnswer, environ: WSGIEnvironment
    ) -> tuple[CellAnswer, str]:
        """The answer to a link or an address, and its cell.

        The account may have moved since it was looked up, and a refusal may follow from that.  An unknown address is
        looked up again as well, so that it takes as long as a known one.
        """
        if who.by not in {NamedBy.LINK, NamedBy.ADDRESS} or not is_refusal(answer.code):
            return answer, cell
        try:
            now = self._looked_up(who)
        except (CellAwayError, DirectoryAwayError):
            return answer, cell
        if now is None or now == cell:
            return answer, cell
        answer.close()
        return self._ask(now, environ), now

    def _follow(self, key: bytes, cell: str, environ: WSGIEnvironment) -> CellAnswer:
        """Ask the account's cell; if it does not have the account any more, the one to which that has moved.

        Of several refusals, that of a cell counts which has the account.  Raises: DirectoryAwayError.
        """
        refusing, refusal, known = list[str](), None, None
        following: str | None = cell
        while following:
            refusing.append(cell := following)
            home = Residence()
            answer = self._ask(cell, environ | {LIVES_HERE: home})
            if answer.code not in REFUSALS and not home.is_unknown:
                if answer.is_unsure and known:  # the account is still where it is known
                    answer.close()
                    break
                if not answer.is_unsure:
                    self._places.lives_in(key, cell)
                elif len(refusing) == 1:  # of what is remembered; the others are as the directory has just said
                    answer = self._if_moved(key, cell, environ, answer)
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

    def _if_moved(self, key: bytes, cell: str, environ: WSGIEnvironment, answer: CellAnswer) -> CellAnswer:
        """Repeat what a cell has not looked at where the directory has the account now.

        It may have moved before that cell went away or took no more changes.  A write to a cell that goes away may have
        been done, so it is not repeated; the client's own repetition then goes to the new cell.
        """
        if answer.refusal not in UNSEEN:
            return answer
        try:
            now = self._places.after_refusal(key, [cell])
        except DirectoryAwayError:
            return answer
        if now is None:
            return answer
        self._places.lives_in(key, now)  # a cell that does not have it yet says so
        if answer.refusal != ReadOnly.slug and environ["REQUEST_METHOD"] not in SAFE_METHODS:
            return answer
        home = Residence()
        again = self._ask(now, environ | {LIVES_HERE: home})
        if home.is_unknown:
            again.close()
            self._places.lives_in(key, cell)
            return answer
        answer.close()
        return self._elsewhere(now, environ, again)

    def _after(self, key: bytes, refusing: Sequence[str], *, knows: bool) -> str | None:
        try:
            return self._places.after_refusal(key, refusing)
        except DirectoryAwayError:
            if knows:
                return None
            raise

    def _elsewhere(self, cell: str, environ: WSGIEnvironment, answer: CellAnswer | None = None) -> CellAnswer:
        """Ask a cell, and for what it does not have the others, as a visitor does: what is public is there for all.

        A session is unknown in the others.  It is sent there all the same: its form token and the language hold
        everywhere, and an answer may set the cookie again, which would otherwise be without the session.
        """
        answer = answer or self._ask(cell, environ)
        is_routed = environ[EXCHANGE].route is not None
        if answer.code != HTTPStatus.NOT_FOUND or not is_routed or environ["REQUEST_METHOD"] not in SAFE_METHODS:
            return answer
        stranger = {name: value for name, value in environ.items() if name != "HTTP_AUTHORIZATION"}
        for other in sorted(self.apps.keys() - {cell}, key=lambda name: self._places.threads[name].is_silent):
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
        if who.began in self.apps:
            return who.began
        self._may_ask(environ, who.by)
        return self._looked_up(who)

    def _looked_up(self, who: Presented) -> str | None:
        if who.email:
            return self._places.of_address(who.email)
        return self._places.of_key(who.key) if who.key else None

    def _of_a_cell(self, environ: WSGIEnvironment) -> CellAnswer:
        """Ask the cell that is named.  Without a name, a web is ready if one of its cells is."""
        if named := self._named(environ):
            return self._ask(named, environ)
        names = sorted(self.apps, key=lambda cell: (self._places.threads[cell].is_silent, cell != self._own))
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
        return named if named in self.apps else None

    def _visitors(self, environ: WSGIEnvironment) -> str:
        return cell_for(self._visitor(environ), self.apps)

    def _ask(self, cell: str, environ: WSGIEnvironment) -> CellAnswer:
        if cell not in self.apps:
            log.warning("cell_unknown", cell=cell)
            return self._refuse(environ, Unavailable(NOT_LOOKED_UP, retry_after=RETRY_SECONDS))
        try:
            with self._places.threads[cell].one() as held:
                answer = self._run(cell, environ | {LET_GO: partial(self._places.threads[cell].let_go, held)})
                held.is_answered = environ[EXCHANGE].refusal != Unavailable.slug
                return answer
        except SilentError:
            log.warning("cell_silent", cell=cell)
            return self._refuse(environ, Unavailable(SILENT, retry_after=RETRY_SECONDS), but=cell)

    def _refuse(self, environ: WSGIEnvironment, problem: Problem, *, but: str | None = None) -> CellAnswer:
        """Let an application answer with a problem.  but: a cell that does not answer."""
        cell = next((name for name in self.apps if name != but), self._own)
        return self._run(cell, environ | {UNPLACED: problem})

    def _run(self, cell: str, environ: WSGIEnvironment) -> CellAnswer:
        environ["wsgi.input"].seek(0)
        exchange: Exchange = environ[EXCHANGE]
        exchange.refusal = None  # of the answer before
        answered = run_wsgi_app(self.apps[cell], environ)
        return CellAnswer(*answered, refusal=exchange.refusal, tenant=exchange.tenant)


def _close(answer: CellAnswer | None) -> None:
    if answer is not None:
        answer.close()
