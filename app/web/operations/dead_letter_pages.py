"""The operator's pages of dead letters: what the broker gave up, back on its queue or dropped."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.domain.queues import ALL_QUEUES
from app.errors import Message, NotFound
from app.services.operations import dead_letters
from app.services.operations.dead_letters import AT_ONCE, REASONS, Chosen, Done
from app.web.core import auth
from app.web.core.context import utc_now, wired
from app.web.core.pages import pages, read
from app.web.operations import one_dead_letter
from app.web.operations.console_words import REASONS_IN_WORDS
from app.web.operations.schemas import ConfirmForm, DeadPageQuery, ManyForm, ManyQuery

#: How much of a payload a page shows, in characters; the API gives all of it.
MOST_PAYLOAD = 20_000


@pages.get("/operator/dead")
def show_dead_letters() -> str:
    """Dead letters by queue and reason, newest first."""
    account = auth.reading_person()
    query = read(DeadPageQuery, request.args)
    chosen = Chosen(queue=query.queue, reason=query.reason)
    found = dead_letters.find(wired().uow, chosen, before=query.cursor, most=query.limit + 1)
    shown = found[: query.limit]
    return render_template(
        "operations/dead.html",
        letters=shown,
        query=query,
        number=dead_letters.count(wired().uow, chosen),
        next=shown[-1].id if len(found) > query.limit else None,
        queues=ALL_QUEUES,
        reasons=REASONS,
        why=REASONS_IN_WORDS,
        may_act=account.is_operator,
        now=utc_now(),
    )


@pages.get("/operator/dead/<int:number>")
def show_dead_letter(number: int) -> str:
    """One dead letter with its payload, and what can be done with it."""
    account = auth.reading_person()
    letter = one_dead_letter.read_one(number)
    return render_template(
        "operations/letter.html",
        letter=letter,
        payload=(letter.payload or "")[:MOST_PAYLOAD],
        why=REASONS_IN_WORDS,
        may_act=account.is_operator,
        now=utc_now(),
    )


@pages.post("/operator/dead/<int:number>/redrive")
def redrive_dead_letter(number: int) -> Response:
    """Turn a dead letter into a message again."""
    actor, _ = str(auth.operating_person().user_id), read(ConfirmForm, request.form)
    one_dead_letter.check_done(dead_letters.redrive(wired().uow, one_dead_letter.one(number), actor=actor))
    return redirect(url_for("pages.show_dead_letters"), 303)


@pages.post("/operator/dead/<int:number>/drop")
def drop_dead_letter(number: int) -> Response:
    """Delete a dead letter whose job has ended."""
    actor, _ = str(auth.operating_person().user_id), read(ConfirmForm, request.form)
    one_dead_letter.check_done(dead_letters.drop(wired().uow, one_dead_letter.one(number), actor=actor))
    return redirect(url_for("pages.show_dead_letters"), 303)


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
