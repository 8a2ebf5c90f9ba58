"""How often a node exchanges acknowledgements and messages with the table."""

#: Between two exchanges in the long run: a commit costs the same for one message as for ten (8 processes, window 32,
#: 2026-11: 2,400 jobs/s instead of 1,500).
SECONDS = 0.004
#: So many come without a pause after a quiet time: jobs of 50 ms on 4 processes end in clusters, and each waited 2 ms.
BURST = 5


class CommitPacing:
    """A bucket of exchanges.  Times are those of time.monotonic."""

    def __init__(self) -> None:
        self._full, self._at = float(BURST), 0.0

    def wait(self, now: float) -> float:
        """Seconds until the next exchange may begin."""
        return max(0.0, (1.0 - self._level(now)) * SECONDS)

    def spend(self, now: float) -> None:
        """One has taken place."""
        self._full, self._at = max(0.0, self._level(now) - 1.0), now

    def _level(self, now: float) -> float:
        return min(float(BURST), self._full + (now - self._at) / SECONDS)
