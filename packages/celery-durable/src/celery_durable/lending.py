"""One session where two would do the same: what a process's node thread sends may go through the node's session.

A worker answers remote control and sends events on connections of their own, in the thread of its node.
"""

from threading import get_ident
from typing import Any, Protocol
from weakref import WeakSet

from .database import CONNECTION_ERRORS, Database, Row
from .options import Options


class Lender(Protocol):
    """What is needed of a node."""

    url: str
    options: Options
    thread: int
    session: Any
    alarm: Any
    fanout: Any

    @property
    def is_open(self) -> bool:
        """Has a session, in this process."""

    def lose(self, error: Exception) -> None:
        """The session broke."""


_lenders: "WeakSet[Any]" = WeakSet()
_borrowers: "WeakSet[Borrower]" = WeakSet()


def offer(lender: Lender) -> None:
    """From now on; idle sessions of this thread's senders end, and begin again if they are ever needed."""
    lender.thread = get_ident()
    _lenders.add(lender)
    for borrower in list(_borrowers):
        if borrower.place == (lender.url, lender.options) and borrower.thread == lender.thread:
            borrower.database.close()


class Borrower:
    """Runs statements through a node of this thread when there is one, else on a session of its own."""

    def __init__(self, url: str, options: Options, database: Database) -> None:
        self.place, self.database, self.thread = (url, options), database, get_ident()
        _borrowers.add(self)

    def lender(self) -> Lender | None:
        """A node of this thread and the same place."""
        mine = get_ident()
        for lender in list(_lenders):
            if (
                lender.thread == mine
                and lender.is_open
                and lender.session.connected
                and (lender.url, lender.options) == self.place
            ):
                return lender
        return None

    def run(self, statement: str, parameters: Any) -> list[Row]:
        """As Database.run."""
        lender = self.lender()
        return _lend(lender, statement, parameters) if lender else self.database.run(statement, parameters)

    def defer(self, post: Any) -> bool:
        """Have the node of this thread send it with its next step; False when there is none."""
        lender = self.lender()
        if lender is None or lender.alarm.loop is None:
            return False
        lender.fanout.post(post)
        lender.alarm.within(lender.fanout.patience(lender.session))
        return True

    def check(self) -> None:
        """Be sure that the database answers, without a session more than needed.  Raises one of CONNECTION_ERRORS."""
        others = (one.database for one in list(_borrowers) if one.place == self.place)
        if self.lender() is None and not any(database.is_open for database in others):
            self.database.connection  # noqa: B018  opens it


def _lend(lender: Lender, statement: str, parameters: Any) -> list[Row]:
    try:
        return list(lender.session.run(statement, parameters))
    except CONNECTION_ERRORS as error:
        lender.lose(error)
        raise
    finally:
        lender.alarm.within(0)  # what the answer brought along makes the descriptor readable no more
