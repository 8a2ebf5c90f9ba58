"""Traffic of many users: submissions of all kinds, reads, streams, cancels and sign-ups, at a rate that is held."""

from __future__ import annotations

import http.client
import random
import threading
import time
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from bench.soak.ageing import Ageing, Job
from bench.soak.client import PATIENCE_SECONDS, Client
from bench.soak.commits import Commits

THREADS = 8
#: More jobs than these are not left waiting: the submission is held back, and counted.
MOST_WAITING = 40
#: How often each way is taken, of about a hundred.
WEIGHTS = {
    "submit": 24, "join": 5, "stored": 8, "specify": 5, "cancel": 3, "job": 14, "tests": 8, "result page": 6,
    "history": 6, "repository": 5, "explore": 4, "usage": 4, "stream": 4, "home": 2, "timeline": 3, "sign up": 1,
}  # fmt: skip
#: Ways that make work.
WORK = ("submit", "join", "specify")


@dataclass
class Load:
    """tokens: of the users; rate: ways a second, none: as fast as it goes.  times: (at, way, milliseconds)."""

    url: str
    tokens: Sequence[str]
    commits: Commits
    ageing: Ageing
    seed: int
    rate: float | None = None
    times: list[tuple[float, str, float]] = field(default_factory=list)
    answers: Counter[tuple[str, int]] = field(default_factory=Counter)
    faults: list[str] = field(default_factory=list)
    held: int = 0
    accepted: int = 0
    _over: threading.Event = field(default_factory=threading.Event)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _threads: list[threading.Thread] = field(default_factory=list)
    _due: float = 0.0
    _deck: list[str] = field(default_factory=list)

    def begin(self) -> None:
        """Start the clients."""
        self._threads = [threading.Thread(target=self._client, args=(n,), daemon=True) for n in range(THREADS)]
        for thread in self._threads:
            thread.start()

    def end(self) -> None:
        """Send nothing more."""
        self._over.set()
        for thread in self._threads:
            thread.join(PATIENCE_SECONDS)

    def _client(self, number: int) -> None:
        dice = random.Random(self.seed * 100 + number)
        client = Client(self.url, dice, self.tokens, self.commits, self.ageing, self.note)
        while not self._over.is_set():
            if (wait := self._turn()) > 0:
                self._over.wait(wait)
            if self._over.is_set():
                break
            way = self._deal(client.dice)
            if way in WORK and not self._may_work():
                continue
            self._take(client, way)
        client.close()

    def _take(self, client: Client, way: str) -> None:
        begun = time.monotonic()
        try:
            status = client.ways[way]()
        except (OSError, http.client.HTTPException) as error:
            client.close()
            self.faults.append(f"{way}: {error!r}")
            return
        if status is not None:
            ended = time.monotonic()
            self.times.append((ended, way, (ended - begun) * 1000))
            with self._lock:
                self.answers[way, status] += 1
            if status >= 500:
                self.faults.append(f"{way}: {status}")

    def _deal(self, dice: random.Random) -> str:
        """From a shuffled deck: each way comes as often as its weight says in any minute, not only in the long run."""
        with self._lock:
            if not self._deck:
                self._deck = [way for way, weight in WEIGHTS.items() for _ in range(weight)]
                dice.shuffle(self._deck)
            return self._deck.pop()

    def _turn(self) -> float:
        """Seconds until the next way is due.  What was missed is not made up for: a busy machine gets less."""
        if self.rate is None:
            return 0.0
        with self._lock:
            now = time.monotonic()
            self._due = max(self._due + 1 / self.rate, now - 1.0)
            return self._due - now

    def _may_work(self) -> bool:
        if len(self.ageing.pending) < MOST_WAITING:
            return True
        self.held += 1
        if self.rate is None:  # as fast as the workers are
            while len(self.ageing.pending) >= MOST_WAITING and not self._over.wait(0.05):
                pass
            return not self._over.is_set()
        return False

    def note(self, job: Job) -> None:
        """A job was accepted."""
        if self.ageing.accept(job):
            with self._lock:
                self.accepted += 1
