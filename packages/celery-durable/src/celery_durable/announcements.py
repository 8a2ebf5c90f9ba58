"""What the senders of one process know about the readers of a topic, so that unread events cost nothing."""

import os
from time import monotonic
from typing import Any
from weakref import WeakSet

#: A reader announces itself this often; an announcement is valid for three times as long.
ANNOUNCE_SECONDS = 10.0
ANNOUNCED_SECONDS = 30.0
#: If no node of the process hears announcements, "no reader" is believed for this long.
DEAF_SECONDS = 5.0


class Announcements:
    """The announcements of one broker in this process.

    Nodes that listen hear each announcement, so that the answer "no" stays true until one comes.
    """

    def __init__(self) -> None:
        self._wanted_until: dict[str, float] = {}
        self._unwanted_since: dict[str, float] = {}
        self._ears: WeakSet[Any] = WeakSet()

    def begin(self, session: Any) -> None:
        """This session listens from now on: earlier answers may have changed unheard."""
        self._unwanted_since.clear()
        self._ears.add(session)

    def hear(self, exchange: str) -> None:
        """A reader announced itself."""
        self.learn(exchange, wanted=True)

    def learn(self, exchange: str, *, wanted: bool) -> None:
        """Store the table's answer."""
        if wanted:
            self._wanted_until[exchange] = monotonic() + ANNOUNCED_SECONDS
            self._unwanted_since.pop(exchange, None)
        else:
            self._unwanted_since[exchange] = monotonic()

    def knows(self, exchange: str) -> bool | None:
        """Whether the exchange has a reader; None: ask the table."""
        if self._wanted_until.get(exchange, 0.0) > monotonic():
            return True
        since = self._unwanted_since.get(exchange)
        if since is None:
            return None
        heard = any(session.connected for session in list(self._ears))
        return False if heard or monotonic() - since < DEAF_SECONDS else None


_known: dict[tuple[str, str | None], Announcements] = {}


def announcements_of(url: str, schema: str | None) -> Announcements:
    """The instance of this process."""
    return _known.setdefault((url, schema), Announcements())


# A child does not have its parent's listening sessions.
os.register_at_fork(after_in_child=_known.clear)
