"""Users who submit, operators who change tiers, and somebody who looks for leaked slots, each in a thread."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from uuid import UUID, uuid4

from app.domain.plans import Tier
from app.domain.repositories import Repository
from app.domain.specification import Mode
from app.services.accounts import tiers
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.jobs.answers import Answer
from app.services.specifications import submit_specification
from app.services.specifications.submit_specification import WantedSpecification
from app.store.core.database_errors import is_databases
from tests.conftest import World
from tests.e2e.fire_checks import LEAKED
from tests.services.busy import account
from tests.services.specifications.writing import of_a_model

#: Of the naps that stand for analyses; some are long, so that a stop or a kill meets them.
MILLISECONDS = (5, 10, 20, 20, 50, 50, 100, 500)
#: Between two looks for leaked slots; one that was gone sooner may not have been seen.
LOOK_SECONDS = 0.25
#: So many jobs wait at most; then the users rest, so that the end is not all drain.
BACKLOG = 2000
WAITING = "SELECT count(*) FROM kombu_message"
#: Of what is asked for, how much is a specification, as soon as there is an analysis to write of.
SPECIFIED = 0.3
ANALYSED = "SELECT id FROM analyses WHERE status = 'completed' ORDER BY completed_at DESC LIMIT 50"


@dataclass
class Load:
    """What is asked for and changed, until `stop`.  users: the first ones ask most."""

    world: World
    users: list[UUID]
    seed: int
    most: int
    ids: set[str] = field(default_factory=set)
    away: int = 0
    moves: Counter[str] = field(default_factory=Counter)
    leaks: dict[str, tuple[float, float]] = field(default_factory=dict)
    errors: list[BaseException] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)
    _stopped: threading.Event = field(default_factory=threading.Event)
    _threads: list[threading.Thread] = field(default_factory=list)

    def begin(self, submitters: int) -> None:
        lives = [self._submit] * submitters + [self._move, self._watch]
        for number, life in enumerate(lives):
            thread = threading.Thread(target=self._live, args=(life, random.Random(self.seed + number)), daemon=True)
            self._threads.append(thread)
            thread.start()

    def stop(self) -> None:
        self._stopped.set()
        for thread in self._threads:
            thread.join(60)
        assert [thread for thread in self._threads if thread.is_alive()] == []
        assert self.errors == []

    @property
    def jobs(self) -> int:
        """How many were accepted; who asks for a specification that is under way is told of that one."""
        return len(self.ids)

    @property
    def is_over(self) -> bool:
        """All was asked for, and all has ended."""
        return self.jobs >= self.most and self.world.value(WAITING) == 0

    @property
    def longest_leak(self) -> float:
        """Seconds between the first and the last look that found a slot leaked."""
        return max((last - first for first, last in self.leaks.values()), default=0.0)

    @property
    def last_leak(self) -> float:
        """When a slot was last found leaked; the clock is time.monotonic."""
        return max((last for _, last in self.leaks.values()), default=0.0)

    def look(self) -> None:
        """Note the slots whose worker is gone."""
        found, now = self.world.rows(LEAKED), time.monotonic()
        for row in found:
            token = str(row["lease_token"])
            self.leaks[token] = (self.leaks.get(token, (now, now))[0], now)

    def _live(self, life: Callable[[random.Random], float], dice: random.Random) -> None:
        pause = 0.0
        while not self._stopped.wait(pause):
            try:
                pause = life(dice)
            except BaseException as error:  # noqa: BLE001 - told by `stop`
                if not is_databases(error):
                    self.errors.append(error)
                    return
                self.away += 1  # a stopped worker holds the row of this user

    def _submit(self, dice: random.Random) -> float:
        if self.world.value(WAITING) >= BACKLOG:  # type: ignore[operator]
            return 0.5
        for _ in range(20):
            if self.jobs >= self.most:
                return 1.0
            answer = self._ask(dice)
            with self._lock:
                self.ids.add(answer.job.id)
        return 0.0

    def _ask(self, dice: random.Random) -> Answer:
        [user] = dice.choices(self.users, [1 / (1 + rank % 10) for rank in range(len(self.users))])
        if dice.random() < SPECIFIED and (analysed := self.world.rows(ANALYSED)):
            fresh = WantedSpecification(dice.choice(analysed)["id"], "en", Mode.REGENERATE_FRESH)
            who = account(self.world, user)
            policy = of_a_model(
                self.world
            ).policy  # the built-in generator would answer with the document that is there
            return submit_specification.submit(self.world.uow, who, fresh, policy, now=datetime.now(UTC))
        repository = Repository("github.com", "fire", f"ms{dice.choice(MILLISECONDS)}")
        wanted = Wanted(repository, uuid4().hex + uuid4().hex[:8])
        return submit(self.world.uow, user, wanted, self.world.policy, now=datetime.now(UTC))

    def _move(self, dice: random.Random) -> float:
        user, tier = dice.choice(self.users), dice.choice(list(Tier))
        tiers.change_tier(self.world.uow, user, tier, self.world.policy, actor="fire", now=datetime.now(UTC))
        self.moves[tier] += 1
        return dice.uniform(0, 0.4)

    def _watch(self, dice: random.Random) -> float:
        self.look()
        return LOOK_SECONDS
