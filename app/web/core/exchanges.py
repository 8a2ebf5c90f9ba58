"""Add to the exchange of a request what only the application knows: route, account and job."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any
from uuid import UUID

from flask import Flask, Response, g, request

from app import origins
from app.errors import Problem
from app.exchanges import EXCHANGE, Exchange, received

if TYPE_CHECKING:
    from _typeshed.wsgi import StartResponse, WSGIApplication, WSGIEnvironment

#: Arguments of routes that are the id of a job.
JOB = "job_id"


def init(app: Flask) -> None:
    """Work for the origin of each request, and note what it was."""
    app.wsgi_app = _entering(app.wsgi_app)  # type: ignore[method-assign, assignment]
    app.after_request(_note)


def exchange() -> Exchange:
    """The exchange of this request; made here if no server has."""
    found: Exchange | None = request.environ.get(EXCHANGE)
    return found or received(request.environ)


def about(job_id: UUID | str) -> None:
    """Note the job that the answer is about, where the route does not name it."""
    exchange().job_id = str(job_id)


def noted(problem: Problem) -> int:
    """Note a refusal that a page tells in its own way.  Returns: the status."""
    exchange().refusal = problem.slug
    return problem.status


def _entering(app: WSGIApplication) -> WSGIApplication:
    def entering(environ: WSGIEnvironment, start_response: StartResponse) -> Iterable[bytes]:
        found: Exchange = environ.get(EXCHANGE) or received(environ)
        with origins.entered(found.origin):
            return app(environ, start_response)

    return entering


def _note(response: Response) -> Response:
    found = exchange()
    found.route = request.url_rule.rule if request.url_rule else None
    if found.job_id is None and JOB in (arguments := request.view_args or {}):
        found.job_id = str(arguments[JOB])
    found.tenant = _tenant()
    return response


def _tenant() -> str | None:
    """The account that asks: of a token or a session, or that of a visitor who submitted something."""
    caller: Any = g.get("caller")
    account = (caller and caller.account) or g.get("anonymous")
    return str(account.user_id) if account else None
