"""Turn errors into answers, in this one place: RFC 9457 documents for programs, a page for people."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

import structlog
from apiflask import HTTPError
from flask import Flask, Response, render_template
from flask.typing import ResponseReturnValue
from pydantic import ValidationError
from sqlalchemy import exc
from werkzeug.exceptions import HTTPException

from app.errors import UNEXPECTED, InvalidInput, Message, NotFound, Problem, TimedOut, Unavailable
from app.store.core.database_errors import code_of, is_databases, lacks_account
from app.web.core import refusals
from app.web.core.context import is_api, request_id
from app.web.core.exchanges import exchange

MOST_ERRORS = 20  # rows of `errors`; a body of a megabyte may contain a hundred thousand
AWAY_RETRY_SECONDS = 2
CANCELLED = "57014"  # by statement_timeout (app/store/core/connections.py)
TIMED_OUT_RETRY_SECONDS = 10

#: Instead of Werkzeug's long ones.
_WORDS = {404: Message("There is nothing at this address."), 413: Message("The body is longer than 1 MB.")}

log = structlog.get_logger()


def init(app: Flask) -> None:
    """Register the handlers; every other error becomes a Problem first."""
    app.register_error_handler(Problem, render)
    app.register_error_handler(HTTPException, _http)
    app.register_error_handler(HTTPError, _validation)
    app.register_error_handler(exc.SQLAlchemyError, _database)
    app.register_error_handler(Exception, _unexpected)


def document(problem: Problem) -> dict[str, Any]:
    """The members of RFC 9457, then the problem's extension members."""
    return {
        "type": f"/problems/{problem.slug}",
        "title": problem.title,
        "status": problem.status,
        "detail": problem.detail,
        "request_id": request_id(),
    } | {name: _plain(value) for name, value in problem.extensions.items()}


def _plain(value: object) -> object:
    return value.isoformat() if isinstance(value, datetime) else value


def render(problem: Problem) -> Response:
    """Answer with a problem."""
    headers = {} if problem.retry_after is None else {"Retry-After": str(problem.retry_after)}
    if problem.status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="fairlane"'
    return respond(document(problem), headers)


def respond(body: dict[str, Any], headers: Mapping[str, str]) -> Response:
    """Answer with a problem document, or with a page if the client is a person."""
    headers = dict(headers) | {"Cache-Control": "no-store"}
    exchange().refusal = body["type"].rpartition("/")[2]
    if is_api():
        return Response(json.dumps(body), body["status"], headers, content_type="application/problem+json")
    return Response(render_template("error.html", problem=refusals.in_words(body)), body["status"], headers)


def invalid(error: ValidationError) -> InvalidInput:
    """Pydantic's findings as a Problem."""
    found = _rows(error)
    detail = Message("%(member)s: %(why)s", member=found[0]["pointer"] or "The body", why=found[0]["detail"])
    return InvalidInput(detail, errors=found)


def _rows(error: ValidationError) -> list[dict[str, str]]:
    """Pydantic's findings with JSON pointers (RFC 6901), without its links and without the input."""
    found = error.errors(include_url=False, include_input=False, include_context=False)[:MOST_ERRORS]
    return [{"pointer": _pointer(row["loc"]), "detail": row["msg"]} for row in found]


def _pointer(location: Sequence[int | str]) -> str:
    steps = (str(step).replace("~", "~0").replace("/", "~1") for step in location)
    return "".join(f"/{step}" for step in steps)[:200]


def _http(error: HTTPException) -> ResponseReturnValue:
    """Werkzeug's own errors: no such route, wrong method, a broken or too long body."""
    if error.response is not None or error.code is None or error.code < 400:
        return error.get_response()
    slug = error.name.lower().replace(" ", "-")
    kept = {name: value for name, value in error.get_headers() if name in {"Allow", "Retry-After"}}
    body = {
        "type": f"/problems/{slug}",
        "title": error.name,
        "status": error.code,
        "detail": _WORDS.get(error.code) or error.description or error.name,
        "request_id": request_id(),
    }
    return respond(body, kept)


def _validation(error: HTTPError) -> Response:
    """APIFlask's wrapper of pydantic's findings."""
    cause = error.__cause__
    if not isinstance(cause, ValidationError):
        return _unexpected(error)
    return render(invalid(cause))


def _database(error: exc.SQLAlchemyError) -> Response:
    """The database is unavailable, full, or holds a lock too long: nothing was accepted; the client may retry."""
    if code_of(error) == CANCELLED:
        log.warning("web.statement_timed_out")
        return render(TimedOut(retry_after=TIMED_OUT_RETRY_SECONDS))
    if lacks_account(error):
        return render(NotFound("The account no longer exists"))
    if is_databases(error) and not isinstance(error, exc.ProgrammingError):  # may be our defect
        log.warning("web.database_away", error=type(error).__name__, code=code_of(error))
        return render(Unavailable(retry_after=AWAY_RETRY_SECONDS))
    return _unexpected(error)


def _unexpected(error: Exception) -> Response:
    log.error("web.failed", error=type(error).__name__, exc_info=error)
    return render(UNEXPECTED)
