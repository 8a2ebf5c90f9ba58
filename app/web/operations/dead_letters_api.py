"""The dead letters, for operators: what the broker gave up, back on its queue or dropped."""

from __future__ import annotations

from typing import Any

from app.services.operations import dead_letters
from app.services.operations.dead_letters import Chosen
from app.store.operations.dead_letters import DeadLetter
from app.web.core import auth
from app.web.core.api import api
from app.web.core.context import wired
from app.web.operations import one_dead_letter
from app.web.operations.schemas import DeadQuery
from app.web.operations.shapes import DeadLetterShape, DeadLettersShape


@api.get("/operator/dead")
@api.input(DeadQuery, location="query", arg_name="query")
@api.output(DeadLettersShape)
@api.doc(operation_id="listDeadLetters", tags=["Operator"])
def list_dead_letters(query: DeadQuery) -> dict[str, Any]:
    """List dead letters, newest first, with the first 200 characters of each payload.  Needs an operator's token."""
    auth.reading_operator()
    chosen = Chosen(queue=query.queue, reason=query.reason)
    found = dead_letters.find(wired().uow, chosen, before=query.cursor, most=query.limit + 1)
    page = found[: query.limit]
    return {"items": page, "next": page[-1].id if len(found) > query.limit else None}


@api.get("/operator/dead/<int:number>")
@api.output(DeadLetterShape)
@api.doc(operation_id="getDeadLetter", tags=["Operator"])
def show_dead_letter(number: int) -> DeadLetter:
    """Show a dead letter with its whole payload.  Needs an operator's token."""
    auth.reading_operator()
    return one_dead_letter.read_one(number)


@api.post("/operator/dead/<int:number>/redrive")
@api.doc(operation_id="redriveDeadLetter", tags=["Operator"], responses={204: "Back on its queue"})
def redrive_dead_letter(number: int) -> tuple[str, int]:
    """Turn a dead letter into a message again, with new counts.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    one_dead_letter.check_done(dead_letters.redrive(wired().uow, one_dead_letter.one(number), actor=actor))
    return "", 204


@api.delete("/operator/dead/<int:number>")
@api.doc(operation_id="dropDeadLetter", tags=["Operator"], responses={204: "Deleted"})
def drop_dead_letter(number: int) -> tuple[str, int]:
    """Delete a dead letter whose job has ended.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    one_dead_letter.check_done(dead_letters.drop(wired().uow, one_dead_letter.one(number), actor=actor))
    return "", 204
