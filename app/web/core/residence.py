"""What a router over several cells says of a request to the application of one (app/web/cells/router.py).

Without cells, none of it is in any environ.
"""

from __future__ import annotations

from dataclasses import dataclass

from flask import request

from app.errors import Problem
from app.web.core.context import wired

#: In the environ of a request that was sent to this cell because its account lives here, a Residence; and of one whose
#: cell cannot be asked, the Problem that it is answered with.
LIVES_HERE, UNPLACED = "fairlane.lives_here", "fairlane.unplaced"
#: In the browser's session: what it was asked for by a sign-in or sign-up of two steps, and the cell that has asked.
BY_PASSKEY, BY_GITHUB, CELL = "passkey", "github", "cell"


@dataclass(slots=True)
class Residence:
    """Whether the account of a request, which should live in this cell, is unknown here: then nothing was done."""

    is_unknown: bool = False


def here() -> dict[str, str]:
    """The cell in which the second step is taken as well, wherever the browser's address or account is by then."""
    own = wired().elsewhere.own
    return {CELL: own} if own else {}


def require_place() -> None:
    """Require that the cell of the request could be asked.  Raises: Unavailable, TooManyRequests."""
    problem: Problem | None = request.environ.get(UNPLACED)
    if problem is not None:
        raise problem


def is_sent_here() -> bool:
    """Whether a refusal of the account is not the answer yet: the router looks whether it has moved."""
    return LIVES_HERE in request.environ


def found_nobody() -> None:
    """Say that no account of this cell has what the request presents."""
    residence: Residence | None = request.environ.get(LIVES_HERE)
    if residence is not None:
        residence.is_unknown = True
