"""What a node has claimed and not yet delivered."""

import logging
from collections import deque
from collections.abc import Callable
from time import monotonic
from typing import Any

from .database import Row
from .leases import Held, Lease
from .ledger import LOST, UNDECODABLE, Ledger

logger = logging.getLogger(__name__)


class Inbox:
    """In the order of the claims.

    decode: (row, queue) -> message, raising for a payload it cannot read.  deliver: (message, queue).
    """

    def __init__(
        self,
        held: Held,
        ledger: Ledger,
        max_deliveries: int,
        decode: Callable[[Row, str], Any],
        deliver: Callable[[Any, str], None],
        is_stopping: Callable[[], bool],
    ) -> None:
        self._messages: deque[tuple[Any, str]] = deque()
        self._held, self._ledger, self._max_deliveries = held, ledger, max_deliveries
        self._decode, self._deliver, self._is_stopping = decode, deliver, is_stopping

    def __bool__(self) -> bool:
        return bool(self._messages)

    def take(self, row: Row, queue: str) -> None:
        """A claimed row: a message that is held now, or an entry of the ledger."""
        row_id, token, losses = row[0], row[1], row[6]
        lease = Lease(row_id, token, None, monotonic())
        if losses >= self._max_deliveries:
            logger.error("event=dead_letter reason=lost message=%d lost=%d", row_id, losses)
            self._ledger.add(LOST, lease)
            return
        try:
            message = self._decode(row, queue)
        except Exception as error:  # noqa: BLE001  whatever somebody wrote into the table, the worker lives
            logger.error("event=dead_letter reason=undecodable message=%d error=%r", row_id, error)  # noqa: TRY400
            self._ledger.add(UNDECODABLE, lease)
            return
        self._held[message.delivery_tag] = lease._replace(task_id=message.headers.get("id"))
        self._messages.append((message, queue))

    def next(self) -> tuple[Any, str] | None:
        """The next (message, queue); it leaves the inbox before its delivery, which may raise."""
        return self._messages.popleft() if self._messages else None

    def deliver(self) -> int:
        """All of them, unless the worker stops; should a delivery raise, the others wait.  -> how many."""
        delivered = 0
        while not self._is_stopping() and (found := self.next()):  # in a solo pool a delivery is the whole run
            delivered += 1
            self._deliver(*found)
        return delivered

    def tags(self) -> set[str]:
        """The tags of all deliveries."""
        return {message.delivery_tag for message, _ in self._messages}

    def forget(self, tags: list[str]) -> None:
        """Their leases were given back."""
        for tag in tags:
            self._held.pop(tag, None)
        self._messages = deque(one for one in self._messages if one[0].delivery_tag in self._held)
