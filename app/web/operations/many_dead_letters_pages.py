"""The operator's page of many dead letters: those of a queue or with a reason, redriven or dropped at once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.errors import Message, NotFound
from app.services.operations import dead_letters
from app.services.operations.dead_letters import AT_ONCE, Chosen, Done
from app.web.core import auth
from app.web.core.context import wired
from app.web.core.pages import pages, read
from app.web.operations.console_words import REASONS_IN_WORDS
from app.web.operations.schemas import ManyForm, ManyQuery


@pages.get("/operator/dead/many")
def show_many_dead_letters() -> str:
    """How many letters there are, and the forms that redrive or drop them."""
    auth.operating_person()
    query = read(ManyQuery, request.args)
    chosen = Chosen(queue=query.queue, reason=query.reason, after=query.after)
    found = dead_letters.oldest(wired().uow, chosen)
    if found is None:
        raise NotFound(Message("There is no dead letter with this filter."))
    return render_template("operations/dead_many.html", query=query, found=found, at_once=AT_ONCE, why=REASONS_IN_WORDS)


@pages.post("/operator/dead/many/redrive")
def redrive_many_dead_letters() -> Response:
    """Turn the letters that were shown into messages again."""
    return _handle("redrive", dead_letters.redrive)


@pages.post("/operator/dead/many/drop")
def drop_many_dead_letters() -> Response:
    """Delete the letters that were shown, if their jobs have ended."""
    return _handle("drop", dead_letters.drop)


def _handle(act: str, handle: Callable[..., Done]) -> Response:
    actor, form = str(auth.operating_person().user_id), read(ManyForm, request.form)
    chosen = Chosen(queue=form.queue, reason=form.reason, after=form.after, last=form.last)
    done = handle(wired().uow, chosen, actor=actor, most=AT_ONCE)
    outcome: dict[str, Any] = {"act": act, "done": len(done.done), "stay": len(done.kept)}
    # others may have handled some since the page was read
    outcome["gone"] = max(0, form.letters - len(done.done) - len(done.kept))
    if dead_letters.oldest(wired().uow, replace(chosen, after=form.last, last=None), most=1):
        outcome["after"] = form.last
    return redirect(url_for("pages.show_dead_letters", queue=form.queue, reason=form.reason, **outcome), 303)
