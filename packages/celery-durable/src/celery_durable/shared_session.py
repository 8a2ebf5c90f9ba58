"""One session where two would do the same: what a process's node thread sends may go through the node's session.

A worker answers remote control and sends events on connections of their own, in the thread of its node.
"""

from threading import get_ident
from typing import Any, Protocol
from weakref import WeakSet

from .database import CONNECTION_ERRORS, Database, Row
from .options import Options


class SessionHolder(Protocol):
    """What is needed of a node."""

    url: str
    options: Options
    thread: int
    session: Any
    timer: Any
    fanout: Any

    @property
    def is_open(self) -> bool:
        """Has a session, in this process."""

    def lose(self, error: Exception) -> None:
        """The session broke."""


_holders: "WeakSet[Any]" = WeakSet()
_sharers: "WeakSet[SharedSession]" = WeakSet()


def share(holder: SessionHolder) -> None:
    """From now on; idle sessions of this thread's senders end, and begin again if they are ever needed."""
    holder.thread = get_ident()
    _holders.add(holder)
    for sharer in list(_sharers):
        if sharer.place == (holder.url, holder.options) and sharer.thread == holder.thread:
            sharer.database.close()


class SharedSession:
    """Runs statements through a node of this thread when there is one, else on a session of its own."""

    def __init__(self, url: str, options: Options, database: Database) -> None:
        self.place, self.database, self.thread = (url, options), database, get_ident()
        _sharers.add(self)

    def holder(self) -> SessionHolder | None:
        """A node of this thread and the same place."""
        mine = get_ident()
        for holder in list(_holders):
            if (
                holder.thread == mine
                and holder.is_open
                and holder.session.connected
                and (holder.url, holder.options) == self.place
            ):
                return holder
        return None

    def run(self, statement: str, parameters: Any) -> list[Row]:
        """Run a statement, like Database.run."""
        holder = self.holder()
        return _run_with(holder, statement, parameters) if holder else self.database.run(statement, parameters)

    def defer(self, post: Any) -> bool:
        """Have the node of this thread send it with its next step; False when there is none."""
        holder = self.holder()
        if holder is None or holder.timer.loop is None:
            return False
        holder.fanout.post(post)
        holder.timer.within(holder.fanout.patience(holder.session))
        return True

    def check(self) -> None:
        """Be sure that the database answers, without a session more than needed.  Raises one of CONNECTION_ERRORS."""
        others = (one.database for one in list(_sharers) if one.place == self.place)
        if self.holder() is None and not any(database.is_open for database in others):
            self.database.connection  # noqa: B018  opens it


def _run_with(holder: SessionHolder, statement: str, parameters: Any) -> list[Row]:
    try:
        return list(holder.session.run(statement, parameters))
    except CONNECTION_ERRORS as error:
        holder.lose(error)
        raise
    finally:
        holder.timer.within(0)  # what the answer brought along makes the descriptor readable no more
