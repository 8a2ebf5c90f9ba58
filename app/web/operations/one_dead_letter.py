"""One dead letter, as an address names it, and the answer if it stays."""

from __future__ import annotations

from app.errors import Conflict, NotFound
from app.services.operations import dead_letters
from app.services.operations.dead_letters import ABSENT, Chosen, Done
from app.store.operations.dead_letters import DeadLetter
from app.web.core.context import wired

HIGHEST = 2**63 - 1  # of a bigint


def one(number: int) -> Chosen:
    """The letter with this id.  Raises: NotFound for a number that no row can have."""
    if number > HIGHEST:
        raise NotFound("There is no such dead letter")
    return Chosen((number,))


def read_one(number: int) -> DeadLetter:
    """A letter with its whole payload.  Raises: NotFound."""
    found = dead_letters.find(wired().uow, one(number))
    if not found:
        raise NotFound("There is no such dead letter")
    return found[0]


def check_done(done: Done) -> None:
    """Check that the letter did not stay.  Raises: NotFound, Conflict."""
    for number, why in done.kept.items():
        raise (NotFound if why == ABSENT else Conflict)(f"{number} stays a dead letter: {why}")
