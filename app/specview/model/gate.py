"""The gate for calls: limits that are counted outside of this process (docs/adr/0048)."""

from __future__ import annotations

from datetime import UTC, datetime
from threading import Lock
from typing import Protocol

from app.domain.model_calls import CallWait, Entered, Refused, Tokens


class Gate(Protocol):
    """Each call of the model enters once, and ends in exactly one of the four ways.  Any thread may use it."""

    def enter(self, estimate: Tokens) -> Entered | CallWait | Refused:
        """Ask for one call, which is counted with its estimate."""

    def succeeded(self, entered: Entered, used: Tokens) -> None:
        """Record that the endpoint answered, whatever its answer is worth."""

    def failed(self, entered: Entered, used: Tokens) -> None:
        """Record that the call failed.  used: the tokens that may be billed nevertheless."""

    def held_back(self, entered: Entered, seconds: float) -> None:
        """Record that the endpoint asks for fewer calls, and for none within the next seconds."""

    def abandoned(self, entered: Entered) -> None:
        """Record that the caller cancelled the call."""


class OpenGate:
    """Lets everything through and adds up what it took: for commands and tests that share with no process."""

    def __init__(self) -> None:
        self._lock = Lock()
        self.used = Tokens()
        self.under_way = 0

    def enter(self, estimate: Tokens) -> Entered | CallWait | Refused:
        """Let the call through."""
        with self._lock:
            self.under_way += 1
        return Entered(datetime.now(UTC).date(), estimate)

    def succeeded(self, entered: Entered, used: Tokens) -> None:  # noqa: ARG002 - the protocol's
        """Add the tokens of the call."""
        self._left(used)

    def failed(self, entered: Entered, used: Tokens) -> None:  # noqa: ARG002 - the protocol's
        """Add the tokens of the call."""
        self._left(used)

    def held_back(self, entered: Entered, seconds: float) -> None:  # noqa: ARG002 - the protocol's
        """End the call without tokens."""
        self._left(Tokens())

    def abandoned(self, entered: Entered) -> None:
        """Add the estimate, as it may be billed."""
        self._left(entered.estimate)

    def _left(self, used: Tokens) -> None:
        with self._lock:
            self.under_way -= 1
            self.used += used
