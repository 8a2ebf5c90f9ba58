"""While no changes are taken, refuse them before anything else is looked at, and say so on every page."""

from __future__ import annotations

from contextlib import suppress

from flask import Flask, request
from sqlalchemy.exc import SQLAlchemyError

from app.services.operations import read_only
from app.store.operations.read_only import ChangesState
from app.web.core import auth, residence
from app.web.core.context import wired
from app.web.core.pages import pages

#: It only sets a cookie.
WITHOUT_DATABASE = frozenset({"pages.choose_language"})
#: GET, and makes a session.
CHANGING = frozenset({"pages.come_back"})


def init(app: Flask) -> None:
    """Refuse changes before anything else is checked, and give templates the state for their notice."""
    app.before_request(refuse_changes)
    app.context_processor(lambda: {"no_changes": no_changes})


def no_changes() -> ChangesState | None:
    """Why no changes are taken at present; None if they are, or if the request is answered without a database."""
    return None if residence.is_unplaced() else read_only.known(wired().uow)


def refuse_changes() -> None:
    """Runs first of each request: counting a client's requests would be a change, too.  Raises: ReadOnly."""
    if not _changes():
        return
    why = no_changes()
    if why and (why.is_databases or request.endpoint not in auth.ONLY_ASKING):
        if request.blueprint == pages.name:
            with suppress(SQLAlchemyError):  # the page that says so shows who is signed in, if that is to be known
                auth.identify_person()
        raise read_only.refuse(why)


def _changes() -> bool:
    if request.endpoint in CHANGING:
        return True
    # without an endpoint there is nothing that could change
    return request.method not in auth.SAFE_METHODS and request.endpoint not in WITHOUT_DATABASE | {None}
