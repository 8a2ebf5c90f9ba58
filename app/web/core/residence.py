"""What a router over several cells says of a request to the application of one (app/web/cells/router.py).

Without cells, none of it is in any environ.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass

from flask import request

from app.errors import Problem
from app.web.core.context import wired

#: In the environ of a request that was sent to this cell because its account lives here, a Residence; and of one for
#: which no cell is asked, the Problem that it is answered with, or None if it is of no cell.
LIVES_HERE, UNPLACED = "fairlane.lives_here", "fairlane.unplaced"
#: There, too: a context in which the request does not count as one that waits for the cell's database.
LET_GO = "fairlane.let_go"
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


def is_unplaced() -> bool:
    """Whether this answer must not wait for the database: it may be away, and nothing bounds those who would wait."""
    return UNPLACED in request.environ


@contextmanager
def waiting_for_others() -> Iterator[None]:
    """Wait for somebody else than the database.  Raises: Unavailable after it, if that has fallen silent meanwhile."""
    with request.environ.get(LET_GO, nullcontext)():
        yield


def is_sent_here() -> bool:
    """Whether a refusal of the account is not the answer yet: the router looks whether it has moved."""
    return LIVES_HERE in request.environ


def found_nobody() -> None:
    """Say that no account of this cell has what the request presents."""
    residence: Residence | None = request.environ.get(LIVES_HERE)
    if residence is not None:
        residence.is_unknown = True
