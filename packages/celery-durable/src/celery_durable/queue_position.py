"""Where a queue stands, as far as one node knows: from which rank on it is read, and when it is looked at again."""

from math import inf
from time import monotonic

#: A whole look takes at most this share of the time.
WHOLE_SHARE = 0.05
#: And what it takes longer than other claims at most this one: behind 100,000 dead entries it takes 20 to 50 ms, and
#: with a larger share it would be more than one claim in a hundred.  The way to a far server is no part of it.
#: For that the next one is put off by so many seconds at most, as a claim may be slow for another reason.
DEAD_SHARE, DEAD_SECONDS = 0.01, 10.0
#: While somebody publishes who has not seen that this node sleeps: the first and the longest pause before a look.
UNSETTLED_SECONDS = (0.005, 0.25)
#: Of the states of sleep, see sql/claim.sql.
UNSETTLED = (1, 3)
#: The floor of a queue is saved each time this many messages were claimed.
FLOOR_MESSAGES = 2000
#: A limit lets the next message start a little before this node looks: one that came too soon would not come again.
LATE_SECONDS = 0.001
#: Somebody else had the line of a limit, and nothing else was there to start: the first and the longest pause.
BUSY_SECONDS = (0.003, 0.02)


class Budget:
    """When a whole look is due again: the longer the last one took, the later."""

    def __init__(self) -> None:
        self.due_at = 0.0

    def spent(self, began: float, ended: float, usual: float | None = None) -> None:
        """A whole look was taken; times of time.monotonic.  usual: seconds of one that is not whole, if it is known."""
        took = ended - began
        dead = 0.0 if usual is None else took - usual
        self.due_at = ended + max(took / WHOLE_SHARE, min(dead / DEAD_SHARE, DEAD_SECONDS))


class QueuePosition:
    """Where a queue stands, as far as this node knows.

    Every claimed message leaves a dead entry at the begin of the index of ready ones, and while some transaction of
    the server is old none of them can be removed: behind 6,000 of them a claim from the begin reads 800 pages.  So a
    claim begins where the last one did.  What has a lower rank nevertheless (it came back, or its
    transaction was long) is found by a whole look, soon when that is cheap.
    """

    def __init__(self) -> None:
        self.rank = 0
        self.sleep = 0
        self.wake_at = inf  # then a limit lets the next message start
        self.budget = Budget()
        self._usual: float | None = None
        self._tail_only = False
        self._look_at: float | None = None
        self._pause = UNSETTLED_SECONDS[0]
        self._busy_pause = BUSY_SECONDS[0]
        self._claimed = 0

    def settle(self, sleep: int, microseconds: int | None) -> None:
        """What a claim said at its end: the state of sleep, and when to come for the next message of a limit.

        microseconds: None: not at all; -1: soon, as somebody else has a line.
        """
        self.sleep = sleep
        if microseconds == -1:
            self.wake_at = monotonic() + self._busy_pause
            self._busy_pause = min(self._busy_pause * 2, BUSY_SECONDS[1])
        elif microseconds is not None:
            self._busy_pause = BUSY_SECONDS[0]
            self.wake_at = monotonic() + microseconds / 1e6 + LATE_SECONDS * (microseconds > 0)

    def begin(self) -> int:
        """The rank to read from."""
        return 0 if monotonic() >= self.budget.due_at else self.rank

    def read(self, begin: int, ranks: list[int], wanted: int, began: float) -> None:
        """What a claim from `begin` on found."""
        now = monotonic()
        if begin == 0:
            self.budget.spent(began, now, self._usual)
        else:
            took = now - began
            self._usual = took if self._usual is None else 0.8 * self._usual + 0.2 * took
        self._tail_only = begin > 0 and len(ranks) < wanted
        unsettled = self.sleep in UNSETTLED
        self._look_at = now + self._pause if unsettled else None
        self._pause = min(self._pause * 2, UNSETTLED_SECONDS[1]) if unsettled else UNSETTLED_SECONDS[0]
        self._claimed += len(ranks)
        if ranks:
            self.rank = min(ranks)

    def look_at(self) -> float:
        """When to look next, on the clock of time.monotonic."""
        return min(self.budget.due_at if self._tail_only else inf, inf if self._look_at is None else self._look_at)

    def to_write(self) -> int | None:
        """The rank to tell publishers and new nodes, when that is due."""
        if self._claimed < FLOOR_MESSAGES:
            return None
        self._claimed = 0
        return self.rank
