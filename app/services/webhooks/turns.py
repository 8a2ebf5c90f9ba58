"""One round of turns: requests to many webhooks are sent at once, for at most one of each account (docs/adr/0054)."""

from __future__ import annotations

from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass, field, replace
from threading import Semaphore
from time import monotonic
from uuid import UUID

from app.services.webhooks.deliver import PATIENT, TURN_SECONDS, Sender, take_turn
from app.store.core.unit_of_work import UnitOfWork
from app.store.webhooks import webhook_deliveries, webhook_turns
from app.store.webhooks.webhook_deliveries import WaitingRow

#: Turns that one process takes at once.  Each is a thread that mostly waits for a receiver.
PLACES = 16
#: What a receiver gets of PATIENT while more than half of the places are taken.
HURRIED = 3.0
#: A round is over after this, so that a worker that is stopped waits no longer.
ROUND_SECONDS = 20.0
#: How soon a round with free places notices what came due.
LOOK_SECONDS = 0.25
#: How much longer than its round the lease of a turn is, so that no turn outlives it.
LEASE_MARGIN = 10.0
#: Transactions of all turns at once.  A worker process keeps three connections (tasks/wiring.py), of which the round
#: uses one; when each thread took its own, PostgreSQL's sessions came and went all the time.
TRANSACTIONS = 2
MOST_COUNTED = 100_000


def take_turns(uow: UnitOfWork, sender: Sender, *, places: int = PLACES, seconds: float = ROUND_SECONDS) -> int:
    """Give turns, the account that was served longest ago first, until nothing is due.  Returns: attempts."""
    few = replace(uow, few=Semaphore(TRANSACTIONS))
    round_ = _Round(uow, few, sender, places, seconds + LEASE_MARGIN, monotonic() + seconds)
    with ThreadPoolExecutor(places, "webhook turn") as pool:
        return round_.run(pool)


def waiting(uow: UnitOfWork) -> WaitingRow:
    """Count the deliveries of all webhooks that are to be sent, up to MOST_COUNTED."""
    with uow.once() as tx:
        return webhook_deliveries.waiting(tx, most=MOST_COUNTED)


@dataclass
class _Round:
    """A round under way.  few: opens the transactions of its turns, which are more than connections."""

    uow: UnitOfWork
    few: UnitOfWork
    sender: Sender
    places: int
    lease: float
    ends: float
    running: set[Future[int]] = field(default_factory=set)

    def run(self, pool: ThreadPoolExecutor) -> int:
        attempts = 0
        while True:
            for webhook_id in self._claimed(self.places - len(self.running)):
                self.running.add(pool.submit(self._turn, webhook_id))
            if not self.running:
                return attempts
            done, _ = wait(self.running, LOOK_SECONDS, FIRST_COMPLETED)
            self.running -= done
            attempts += sum(turn.result() for turn in done)

    def _claimed(self, most: int) -> list[UUID]:
        if most == 0 or self._left() <= 0:
            return []
        with self.uow.begin() as tx:
            return webhook_turns.claim(tx, most, seconds=self.lease)

    def _turn(self, webhook_id: UUID) -> int:
        try:
            seconds = min(TURN_SECONDS, self._left())
            return take_turn(self.few, webhook_id, self.sender, seconds=seconds, patience=self._patience)
        finally:
            with self.few.begin() as tx:
                webhook_turns.end(tx, webhook_id)

    def _patience(self) -> float:
        """Seconds for an attempt that begins now."""
        crowded = 2 * len(self.running) > self.places
        return HURRIED if crowded else max(HURRIED, min(PATIENT, self.ends - monotonic()))

    def _left(self) -> float:
        """Seconds in which a turn or an attempt may still begin."""
        return self.ends - HURRIED - monotonic()
