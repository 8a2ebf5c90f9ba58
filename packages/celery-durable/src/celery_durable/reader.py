"""What a node reads from its queues: which one next, how much of it, and from where on."""

from datetime import datetime, timedelta
from math import inf
from random import uniform
from time import monotonic
from typing import Any, NamedTuple

from .database import Row
from .fleet import longest_pause, watch_pause
from .options import Options
from .queue_position import Budget, QueuePosition
from .session import Session
from .statements import Statements

#: Who watches judges unless another node did within this time: a little less, should the server's clock be slower.
JUDGED_SECONDS = 0.95
#: Before the first claim of a session at most so many, the second for the verdict on nodes that are in doubt.
FIRST_LOOKS = 2
#: Between whole looks a poll goes back this far: who was skipped as locked comes a little late.
MARGIN = timedelta(seconds=5)


class Claim(NamedTuple):
    """A claim of up to `most` messages from the rank `begin` on.

    began: time of time.monotonic; before: statements to run in front of it.
    """

    queue: str
    most: int
    begin: int
    began: float
    before: str
    parameters: dict[str, Any]


class Reader:
    """What one node reads.  Methods raise one of CONNECTION_ERRORS where they run a statement."""

    def __init__(self, options: Options, sql: Statements, session: Session) -> None:
        self.queues: list[str] = []
        self.poll_at = self.watch_at = 0.0
        self._options, self._sql, self._session = options, sql, session
        self._nodes, self._first_looks, self._longest = 1, FIRST_LOOKS, options.poll_seconds
        self._positions: dict[str, QueuePosition] = {}
        self._hints: set[str] = set()
        self._spare: dict[str, int] = {}
        self._rotation = 0
        self._turn: list[str] = []
        self._active = True
        self._clock: datetime | None = None
        self._whole_poll = Budget()
        self._noted: list[str] | None = []

    def add(self, queue: str) -> None:
        """Read it, from now on."""
        if queue not in self.queues:
            self.queues.append(queue)
            self._positions[queue] = QueuePosition()
            self._divide()
        self._hints.add(queue)
        self.poll_at = 0.0

    def remove(self, queue: str) -> None:
        """Read it no more."""
        if queue in self.queues:
            self.queues.remove(queue)
            self._divide()
            self.poll_at = 0.0  # which writes down what is left
        self._hints.discard(queue)

    def _divide(self) -> None:
        """Which of the queues are read with what is to spare; a node that reads no others has nothing to keep."""
        spare = {queue: kept for queue, kept in self._options.spare_queues if queue in self.queues}
        self._spare = spare if len(spare) < len(self.queues) else {}

    def clear(self) -> None:
        """Read nothing more."""
        for queue in list(self.queues):
            self.remove(queue)

    def restart(self) -> None:
        """A new session: look at everything."""
        self._hints.update(self.queues)
        self._active, self.poll_at, self.watch_at, self._clock = True, 0.0, 0.0, None
        # However many nodes there are, its first looks come soon.
        self._nodes, self._first_looks, self._longest = 1, FIRST_LOOKS, self._options.poll_seconds
        self._noted = None if self._positions else []  # the node's row may be another one
        for position in self._positions.values():
            position.sleep, position.wake_at = 0, inf  # its lock went with the session

    def hear(self, queue: str, delay: float | None) -> None:
        """A message is ready, or due in this many seconds."""
        if queue not in self.queues:
            return
        if delay is not None:
            self.poll_at = min(self.poll_at, monotonic() + delay)
            return
        self._hints.add(queue)
        # Whoever takes the message may die with it: look soon for nodes that do.
        self._active = True
        self.watch_at = min(self.watch_at, monotonic() + watch_pause(self._nodes))

    @property
    def looks_first(self) -> bool:
        """A session begins: what dead nodes held is older than what waits, so it is taken back before the first claim.

        That is a second later if one of them is in doubt.
        """
        return self._first_looks > 0

    @property
    def is_noted(self) -> bool:
        """Its row says which queues it reads; that of a node which never read any says nothing."""
        return self._noted == self.queues

    def look_due(self) -> bool:
        """Whether it is time for `look`."""
        return monotonic() >= min(self.poll_at, self.watch_at)

    def may_claim(self, budget: int) -> bool:
        """Something may be ready, of which `budget` more messages leave room for some."""
        if self.looks_first:
            return False
        now = monotonic()
        self._hints.update(queue for queue in self.queues if now >= self._positions[queue].look_at())
        self._wake(now, budget)
        return any(self._room(queue, budget) for queue in self._hints)

    def _wake(self, now: float, budget: int) -> None:
        """A limit lets messages start: claim them, or without room for any let a poll tell the other nodes."""
        for queue in self.queues:
            position = self._positions[queue]
            if now >= position.wake_at:
                position.wake_at = inf
                self._hints.add(queue)
                if not self._room(queue, budget):
                    self.poll_at = min(self.poll_at, now)

    def patience(self) -> float:
        """Seconds until there is something to look at, should nobody tell."""
        # what is hinted at and was not claimed waits for room
        looks = [self._positions[queue].look_at() for queue in self.queues if queue not in self._hints]
        looks += [self._positions[queue].wake_at for queue in self.queues]
        return max(0.0, min([self.poll_at, self.watch_at, *looks]) - monotonic())

    def next(self, budget: int) -> Claim | None:
        """The next claim, of up to `budget` messages; None when the queues are empty, as far as is known."""
        own = [queue for queue in self.queues if queue not in self._spare]
        if claim := self._next_of(own, budget):
            return claim
        for queue in self._spare:
            if queue in self._hints and (room := self._room(queue, budget)):
                return self.claim_of(queue, room)
        return None

    def _next_of(self, queues: list[str], budget: int) -> Claim | None:
        if self._options.queue_order == "strict":
            queue = next((queue for queue in queues if queue in self._hints), None)
            return self.claim_of(queue, budget) if queue and budget else None
        self._turn = [queue for queue in self._turn if queue in self._hints]
        if not self._turn:
            self._rotation += 1
            first = self._rotation % max(1, len(queues))
            self._turn = [queue for queue in queues[first:] + queues[:first] if queue in self._hints]
        share = -(-budget // max(1, len(self._turn)))
        return self.claim_of(self._turn.pop(0), share) if self._turn and share else None

    def _room(self, queue: str, budget: int) -> int:
        """How many messages of a queue may be claimed when `budget` of any may."""
        return max(0, budget - self._spare.get(queue, 0))

    def claim_of(self, queue: str, count: int) -> Claim:
        """A claim of up to `count` messages of one queue."""
        position = self._positions.setdefault(queue, QueuePosition())
        begin, raised = position.begin(), position.to_write()
        given = {
            "queue": queue,
            "count": count,
            "owner": self._session.owner,
            "lease": self._options.lease_seconds,
            "floor": begin,
            "sleep": position.sleep,
            "raised": raised,
        }
        before = "" if raised is None else f"{self._sql.raise_floor};"
        return Claim(queue, count, begin, monotonic(), before, given)

    def took(self, claim: Claim, rows: list[Row]) -> list[Row]:
        """A claim was answered.  -> its rows, in their order."""
        position = self._positions[claim.queue]
        if rows and rows[-1][0] is None:
            said = rows.pop()
            position.settle(said[3], said[-1])
        position.read(claim.begin, [row[-1] for row in rows], claim.most, claim.began)
        if len(rows) < claim.most:
            self._hints.discard(claim.queue)
        return sorted(rows, key=_by_rank)

    def look(self, prefetch_count: int) -> None:
        """Look at the other nodes and at the tables, each if it is time."""
        now = monotonic()
        if now >= self.watch_at:
            self.watch()
        if now >= self.poll_at:
            self.poll(prefetch_count)

    def watch(self) -> None:
        """Judge the other nodes, or learn that somebody has just done it; and plan the next look at them."""
        after = 0 if self.looks_first else JUDGED_SECONDS
        given = {"owner": self._session.owner, "settled": self._session.may_judge(), "after": after}
        [(others, doubted, ago)] = self._session.run(self._sql.judge, given)
        again = others or self._active
        self._active = False
        self._first_looks = self._first_looks - 1 if doubted else 0
        self.watch_at = monotonic() + watch_pause(self._nodes, ago or 0.0) if again else inf

    def poll(self, prefetch_count: int) -> None:
        """Promote what is due, and plan the next look.  prefetch_count: to be shown of the node."""
        began = monotonic()
        whole = self._clock is None or began >= self._whole_poll.due_at
        given = {
            "queues": self.queues,
            "owner": self._session.owner,
            "settled": self._session.may_judge(),
            "since": None if whole or self._clock is None else self._clock - MARGIN,
            "prefetch": prefetch_count,
        }
        [(ready, due, others, self._clock, named, self._nodes)] = self._session.run(self._sql.poll, given)
        self._noted = list(self.queues) if named or self._session.owner is None else None
        if not named and self._session.owner is not None:
            self._session.rename()
            self._longest = self._options.poll_seconds
        pause = self._poll_pause()
        now = monotonic()
        if whole:
            self._whole_poll.spent(began, now)
        self._hints.update(ready)
        if others is not False:
            self.watch_at = min(self.watch_at, now + watch_pause(self._nodes))
        self.poll_at = now + (pause if due is None else min(pause, due))

    def _poll_pause(self) -> float:
        """Seconds until the next poll.  A longer pause than before is written down first, and made the next time."""
        if not self._options.listen:  # it has nothing but its polls
            return self._options.poll_seconds
        before, self._longest = self._longest, longest_pause(self._options.poll_seconds, self._nodes)
        if self._longest != before:
            self._session.run(self._sql.note_pause, {"owner": self._session.owner, "poll": self._longest})
        pause = min(before, self._longest)
        # nodes that began together do not poll together for ever
        return pause if pause == self._options.poll_seconds else pause * uniform(0.75, 1)  # noqa: S311  no secret


def _by_rank(row: Row) -> tuple[int, int]:
    return row[-1], row[0]
