"""Deliveries that are over, until that is written down."""

from collections import deque
from collections.abc import Callable
from typing import Any

from .database import CONNECTION_ERRORS, Row
from .leases import Lease, columns
from .statements import Statements

#: How a delivery ends: done; back on its queue; a dead letter, for a reason.
ACK, REQUEUE, REJECTED, UNDECODABLE, LOST = "ack", "requeue", "rejected", "undecodable", "lost"
#: Its own commit has written it down: nothing is left to write here.
SETTLED = "settled"


class Ledger:
    """Acknowledgements are written together, the rest one by one.

    What could not be written stays and is written again: every statement is fenced by the lease, so twice is once.
    `add` may be called from any thread.
    """

    def __init__(self, run: Callable[[str, Any], list[Row]], sql: Statements) -> None:
        self._run, self._sql = run, sql
        self._acks: deque[Lease] = deque()
        self._others: deque[tuple[str, Lease]] = deque()

    def __bool__(self) -> bool:
        return bool(self._acks or self._others)

    def add(self, how: str, lease: Lease) -> None:
        """How: one of the words above."""
        if how == ACK:
            self._acks.append(lease)
        else:
            self._others.append((how, lease))

    def write(self) -> None:
        """All of it, now.  Raises one of CONNECTION_ERRORS."""
        if self._acks:
            self.write_with("", {})
        while self._others:
            how, lease = self._others[0]
            if how == REQUEUE:
                self._run(self._sql.release, {**columns([lease]), "charge": True})
            else:
                self._run(self._sql.bury, {**columns([lease]), "reason": how})
            self._others.popleft()

    def write_with(self, statement: str, parameters: dict[str, Any]) -> list[Row]:
        """Run a claim; acknowledgements ride along in the same round trip and commit.  -> the claim's rows."""
        statement, parameters, crashed = self.ride(statement, parameters)
        try:
            return self._run(statement, parameters)
        except CONNECTION_ERRORS:
            crashed()
            raise

    def ride(self, statement: str, parameters: dict[str, Any]) -> tuple[str, dict[str, Any], Callable[[], None]]:
        """A claim with the acknowledgements in front.  -> statement, parameters, what to call if it did not arrive."""
        if not self._acks:
            return f"{self._sql.soon_durable};{statement}", parameters, lambda: None
        acks = [self._acks.popleft() for _ in range(len(self._acks))]
        return f"{self._sql.ack};{statement}", {**parameters, **columns(acks)}, lambda: self._acks.extendleft(acks)
