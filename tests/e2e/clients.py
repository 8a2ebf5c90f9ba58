"""Clients that do by chance what people do, and go on when the database goes away under them."""

from __future__ import annotations

import random
import threading
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import text

from app.domain.plans import Tier
from app.domain.specification import Mode
from app.errors import IdempotencyInFlight, Problem
from app.services.accounts import tiers
from app.services.analyses.submission import Wanted
from app.services.analyses.submit import submit
from app.services.jobs.answers import Answer
from app.services.jobs.cancel import cancel
from app.services.operations.sweep import sweep
from app.services.specifications import submit_specification
from app.services.specifications.submit_specification import WantedSpecification
from app.store.core.database_errors import is_databases
from app.store.jobs.idempotency import Stored
from app.web.jobs.job_json import rendered
from tests.conftest import World, id_of, keyed
from tests.services.busy import account

#: What is asked for how often: most of all, new work.
HABITS = {
    "ask": 10,
    "ask_with_key": 6,
    "repeat_key": 4,
    "retry": 2,
    "leave": 4,
    "edit_plan": 1,
    "edit_tier": 1,
    "clean_up": 1,
}

#: So many jobs and commits back people remember.
RECENT = 12

#: Of what is asked for, how much is a specification, as soon as there is an analysis to write of.
SPECIFIED = 0.3
ANALYSED = "SELECT id FROM analyses WHERE status = 'completed' ORDER BY completed_at DESC LIMIT 3"

Asked = Wanted | WantedSpecification


@dataclass
class Shared:
    """What all clients know.  commits: of which some are in no repository; known: how many of them were asked
    for; jobs: in their order, with who asked last.
    """

    world: World
    users: list[UUID]
    commits: list[Wanted]
    known: int = 1
    lock: threading.Lock = field(default_factory=threading.Lock)
    jobs: dict[UUID, UUID] = field(default_factory=dict)
    keyed: list[tuple[UUID, str, Asked, str]] = field(default_factory=list)
    faults: list[str] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)
    #: Set when PostgreSQL is about to go away: nobody has done all their acts before that, however slow the machine is.
    restarting: threading.Event = field(default_factory=threading.Event)


class Client(threading.Thread):
    """Acts so often, as its dice say; errors that are no Problems are kept for the end."""

    def __init__(self, shared: Shared, seed: int, acts: int, pause: float) -> None:
        super().__init__(name=f"client {seed}", daemon=True)
        self.error: BaseException | None = None
        self.left, self._half = acts, acts // 2
        self._shared, self._dice, self._pause = shared, random.Random(seed), pause
        self._world = shared.world

    def run(self) -> None:
        habits = self._dice.choices(list(HABITS), list(HABITS.values()), k=self.left)
        try:
            for habit in habits:
                if self.left == self._half:
                    self._shared.restarting.wait()
                time.sleep(self._dice.uniform(0, 2 * self._pause))
                outcome = getattr(self, habit)()
                with self._shared.lock:
                    self._shared.seen[f"{habit} {outcome}"] += 1
                self.left -= 1
        except BaseException as error:  # noqa: BLE001 - told by the test
            self.error = error

    @property
    def is_half_done(self) -> bool:
        """Whether half of the acts are done, or an error has ended them."""
        return self.left <= self._half or self.error is not None

    def ask(self) -> str:
        return self._submit(self._user(), self._wanted())[0]

    def retry(self) -> str:
        return self._submit(self._user(), replace(self._commit(), retry=True))[0]

    def ask_with_key(self) -> str:
        user, wanted, key = self._user(), self._wanted(), uuid4().hex
        said, job_id = self._submit(user, wanted, key)
        if job_id:
            with self._shared.lock:
                self._shared.keyed.append((user, key, wanted, job_id))
        return said

    def repeat_key(self) -> str:
        with self._shared.lock:
            known = self._dice.choice(self._shared.keyed) if self._shared.keyed else None
        if known is None:
            return "nothing"
        user, key, wanted, job_id = known
        said, again = self._submit(user, wanted, key)
        if again != job_id:
            self._shared.faults.append(f"I8 key {key} gave {job_id}, then {again or said}")
        return said

    def leave(self) -> str:
        with self._shared.lock:
            jobs = list(self._shared.jobs.items())
        if not jobs:
            return "nothing"
        (job_id, asker), world = self._dice.choice(jobs[-RECENT:]), self._world
        user = asker if self._dice.random() < 0.8 else self._user()
        who = self._surely(lambda: account(world, user))
        done = self._surely(lambda: cancel(world.uow, job_id, who, world.policy, now=datetime.now(UTC)))
        return type(done).__name__

    def edit_plan(self) -> str:
        change = (
            "UPDATE subscription_plans SET analyses_per_period = :units, spec_units_per_period = 100 * CAST(:units AS integer),"
            " concurrent_jobs = :slots WHERE tier = :tier"
        )
        values = {"units": self._dice.choice([5, 40, None]), "slots": self._dice.choice([1, 2, 5])}
        tier = self._dice.choice([Tier.FREE, Tier.PRO]).value
        statement = text(change.replace(":tier", "CAST(:tier AS plan_tier)"))

        def edit() -> None:
            with self._world.uow.begin() as tx:
                tx.run(statement, **values, tier=tier)

        self._surely(edit)
        return "done"

    def edit_tier(self) -> str:
        user, tier, world = self._user(), self._dice.choice([Tier.FREE, Tier.PRO, Tier.ENTERPRISE]), self._world
        self._surely(
            lambda: tiers.change_tier(world.uow, user, tier, world.policy, actor=self.name, now=datetime.now(UTC))
        )
        return "done"

    def clean_up(self) -> str:
        swept = self._surely(lambda: sweep(self._world.uow, self._world.policy, now=datetime.now(UTC)))
        if swept.orphans:
            self._shared.faults.append(f"I4 the clean-up found orphans: {swept}")
        return "done"

    def _submit(self, user: UUID, wanted: Asked, key: str | None = None) -> tuple[str, str | None]:
        world, given = self._world, keyed(key, sha256(str(wanted).encode()).digest()) if key else None

        def post() -> Any:
            now = datetime.now(UTC)
            if isinstance(wanted, Wanted):
                return submit(world.uow, user, wanted, world.policy, key=given, now=now)
            who = account(world, user)
            return submit_specification.submit(world.uow, who, wanted, world.policy, key=given, now=now)

        while isinstance(answer := self._surely(post), IdempotencyInFlight):
            time.sleep(0.05)
        if not isinstance(answer, Answer | Stored):
            return type(answer).__name__, None
        with self._shared.lock:
            self._shared.jobs[id_of(answer)] = user
        of = "" if isinstance(wanted, Wanted) else " specification"
        status, again = (answer.status, " again") if isinstance(answer, Stored) else (rendered(answer)[0], "")
        return f"{status}{of}{again}", str(id_of(answer))

    def _surely(self, call: Callable[[], Any]) -> Any:
        """Call until the database answers; a Problem is an answer."""
        while True:
            try:
                return call()
            except Problem as problem:
                return problem
            except Exception as error:
                if not is_databases(error):
                    raise
                self._shared.seen["database away"] += 1
                time.sleep(0.05)

    def _user(self) -> UUID:
        return self._dice.choice(self._shared.users)

    def _wanted(self) -> Asked:
        if self._dice.random() >= SPECIFIED or not (analysed := self._surely(lambda: self._world.rows(ANALYSED))):
            return self._commit()
        language, mode = self._dice.choice(["en", "ko"]), self._dice.choice(list(Mode))
        return WantedSpecification(self._dice.choice(analysed)["id"], language, mode)

    def _commit(self) -> Wanted:
        with self._shared.lock:
            known = self._shared.commits[: self._shared.known]
            if len(known) == len(self._shared.commits) or self._dice.random() < 0.5:
                return self._dice.choice(known[-RECENT:])
            self._shared.known += 1
            return self._shared.commits[len(known)]
