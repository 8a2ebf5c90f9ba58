"""Refusals of accounts that leave the cell of their request while it is answered (docs/adr/0097).

The move deletes the account's rows in the cell.  A request that has waited for it finds fewer ways in, no challenge, or
no proof, and is refused for a reason that does not hold where the account lives now.
"""

from __future__ import annotations

from http import HTTPStatus

import structlog
from flask import Response, g
from sqlalchemy.exc import SQLAlchemyError

from app.services.accounts import accounts
from app.web.core import residence
from app.web.core.context import wired

log = structlog.get_logger()


def note(response: Response) -> Response:
    """Let the router repeat a refused request, which has changed nothing, if its account is not here any more."""
    account = g.caller.account if "caller" in g else None
    if account and is_refusal(response.status_code) and residence.is_sent_here():
        try:
            if not accounts.is_here(wired().uow, account.user_id):
                residence.found_nobody()
        except SQLAlchemyError as error:  # the refusal is the answer
            log.warning("web.account_not_looked_up", error=type(error).__name__)
    return response


def is_refusal(code: int) -> bool:
    """Whether a rule has refused a request, other than for the number of requests."""
    return HTTPStatus.BAD_REQUEST <= code < HTTPStatus.INTERNAL_SERVER_ERROR and code != HTTPStatus.TOO_MANY_REQUESTS
