"""The operator's page of one queue: what is in it, and to pause or resume it."""

from __future__ import annotations

from flask import redirect, render_template, request, url_for
from werkzeug.wrappers import Response

from app.errors import Message, NotFound
from app.services.operations import queues
from app.services.operations.service_state import allowed
from app.web.core import auth
from app.web.core.context import wired
from app.web.core.pages import pages, read
from app.web.operations.console_words import COLUMNS
from app.web.operations.schemas import PauseForm


@pages.get("/operator/queues/<queue>")
def show_queue(queue: str) -> str:
    """The messages of a queue, and the form that pauses or resumes it."""
    account = auth.reading_person()
    found = next((row for row in queues.states(wired().uow) if row.queue == queue), None)
    if found is None:
        raise NotFound(Message("There is no queue %(queue)s", queue=repr(queue)))
    return render_template(
        "operations/queue.html",
        queue=found,
        pause=next((one for one in queues.pauses(wired().uow) if one.queue == queue), None),
        allowed=allowed(queue),
        may_act=account.is_operator,
        COLUMNS=COLUMNS,
    )


@pages.post("/operator/queues/<queue>/pause")
def pause_queue(queue: str) -> Response:
    """Pause a queue with a reason, or resume it."""
    actor, form = str(auth.operating_person().user_id), read(PauseForm, request.form)
    queues.set_paused(wired().uow, queue, paused=form.paused, actor=actor, reason=form.reason)
    return redirect(url_for("pages.show_operator", _anchor="queues"), 303)
