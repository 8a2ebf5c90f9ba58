"""The dead letters, for operators: what the broker gave up, back on its queue or dropped."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from app.errors import Conflict, NotFound
from app.services.operations import dead_letters
from app.services.operations.dead_letters import ABSENT, Chosen, Done
from app.web import auth, operator_answers
from app.web.api import api
from app.web.context import wired
from app.web.operator_schemas import DeadQuery

HIGHEST = 2**63 - 1  # of a bigint


@api.get("/operator/dead")
@api.input(DeadQuery, location="query", arg_name="asked")
@api.output(operator_answers.DeadLetters)
@api.doc(operation_id="listDeadLetters", tags=["Operator"])
def list_dead_letters(asked: DeadQuery) -> dict[str, Any]:
    """List dead letters, newest first, with the first 200 characters of each payload.  Needs an operator's token."""
    auth.reading_operator()
    chosen = Chosen(queue=asked.queue, reason=asked.reason)
    found = dead_letters.find(wired().uow, chosen, before=asked.cursor, most=asked.limit + 1)
    page = found[: asked.limit]
    return {"items": [asdict(one) for one in page], "next": page[-1].id if len(found) > asked.limit else None}


@api.get("/operator/dead/<int:number>")
@api.output(operator_answers.DeadLetter)
@api.doc(operation_id="getDeadLetter", tags=["Operator"])
def show_dead_letter(number: int) -> dict[str, Any]:
    """Show a dead letter with its whole payload.  Needs an operator's token."""
    auth.reading_operator()
    found = dead_letters.find(wired().uow, _one(number))
    if not found:
        raise NotFound("There is no such dead letter")
    return asdict(found[0])


@api.post("/operator/dead/<int:number>/redrive")
@api.doc(operation_id="redriveDeadLetter", tags=["Operator"], responses={204: "Back on its queue"})
def redrive_dead_letter(number: int) -> tuple[str, int]:
    """Turn a dead letter into a message again, with new counts.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    return _answered(dead_letters.redrive(wired().uow, _one(number), actor=actor))


@api.delete("/operator/dead/<int:number>")
@api.doc(operation_id="dropDeadLetter", tags=["Operator"], responses={204: "Deleted"})
def drop_dead_letter(number: int) -> tuple[str, int]:
    """Delete a dead letter whose job has ended.  Needs an operator's token."""
    actor = str(auth.operator().user_id)
    return _answered(dead_letters.drop(wired().uow, _one(number), actor=actor))


def _one(number: int) -> Chosen:
    """The letter with this id.  Raises: NotFound for a number that no row can have."""
    if number > HIGHEST:
        raise NotFound("There is no such dead letter")
    return Chosen((number,))


def _answered(done: Done) -> tuple[str, int]:
    """Raises: NotFound, Conflict for a letter that stays."""
    for number, why in done.kept.items():
        raise (NotFound if why == ABSENT else Conflict)(f"{number} stays a dead letter: {why}")
    return "", 204
