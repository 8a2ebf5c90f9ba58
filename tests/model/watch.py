"""What a machine over the real services needs around each step: a clock, two looks at the tables, books of its own."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from uuid import UUID

from hypothesis.stateful import RuleBasedStateMachine
from sqlalchemy import text

from app.domain.lifecycle import Delivery
from app.domain.periods import Period
from app.domain.plans import EventType, Tier
from app.services.accounts import usage
from app.services.analyses.judge import LOOK
from app.services.jobs.answers import Answer
from app.services.operations.audit import HOLDS, audit
from app.store.accounts import users
from app.store.accounts.users import Account
from tests.conftest import World
from tests.model import invariants
from tests.model.job import Hold, Holder, Message
from tests.model.observe import Sight, followed, later, look, pictures
from tests.model.places import LINED, NEXT
from tests.model.steps import Rules

ANCHOR = datetime(2027, 1, 31, 12, tzinfo=UTC)  # of every subscription: most months are too short for it
TIERS = (Tier.FREE, Tier.FREE, Tier.PRO)
SOLD = {Tier.FREE: (1, 4), Tier.PRO: (3, 6)}  # slots, analyses in a period
WITHOUT_LIMIT = 10**9
#: Of the audit, what is so at any moment; the others look at clocks and nodes, of which there are none here.
LASTING = {f"I{number}" for number in range(1, 9)}

EMPTY = "; ".join(
    f"DELETE FROM {table}"  # a tenth of the time of TRUNCATE, while there are few rows
    for table in ("kombu_message", "job_events", "usage_events", "analysis_requests", "analyses", "codebases", "users")
)
PLAN = """UPDATE subscription_plans SET concurrent_jobs = :slots, analyses_per_period = :units
           WHERE tier = CAST(:tier AS plan_tier)"""

#: A look at HEAD, when somebody asks for a known commit, is no job.
OF_JOBS = "SELECT count(*) FROM kombu_message WHERE CAST(payload AS jsonb) #>> '{headers,task}' <> :look"

#: From the 31st, or the last day of a shorter month, at noon.
EDGES = [
    ANCHOR.replace(year=year, month=month, day=min(31, monthrange(year, month)[1]))
    for year in range(2027, 2047)
    for month in range(1, 13)
]


def period(now: datetime) -> tuple[datetime, datetime]:
    """Of every user here."""
    return max(edge for edge in EDGES if edge <= now), min(edge for edge in EDGES if edge > now)


class Watched(RuleBasedStateMachine):
    """before, after: what the tables showed around the last step; whole: it was as it should be.

    accepted_at: of each job, when its payer last paid; bills: payer and that instant of each usage event to be;
    answers: by user and key, the body, the first answer, and when it was given.
    """

    fresh: World

    def __init__(self) -> None:
        super().__init__()
        self.world = replace(self.fresh, now=ANCHOR).with_policy(lease_seconds=0)  # a slot lives by its lease alone
        self.before: Sight = {}
        self.after: Sight = {}
        self.whole = False
        self.deliveries: list[Delivery] = []
        self.accepted_at: dict[UUID, datetime] = {}
        self.bills: list[tuple[UUID, datetime]] = []
        self.answers: dict[tuple[UUID, str], tuple[bytes, Answer, datetime]] = {}
        self.sold: dict[Tier, tuple[int, int | None]] = {}
        self.world.rows(f"{EMPTY}; SELECT 1")
        for tier, (slots, units) in SOLD.items():
            self.sell(tier, slots, units)
        self.tiers = {self.world.user(tier): tier for tier in TIERS}
        self.users = list(self.tiers)

    def sell(self, tier: Tier, slots: int, units: int | None) -> None:
        with self.world.uow.begin() as tx:
            tx.run(text(PLAN), slots=slots, units=units, tier=tier.value)
        self.sold[tier] = (slots, units)

    @contextmanager
    def watched(self, passing: timedelta = timedelta(seconds=1)) -> Iterator[None]:
        """Let time pass and something happen, and look."""
        self.whole = False
        self.world = replace(self.world, now=self.world.now + passing)
        self.before = later(self.after, self.world.now)
        with self.world.uow.begin() as tx:
            self.held = {name for (name,) in tx.run(text("SELECT name FROM kombu_group"))}
            self.lined, self.nexts = ([dict(row._mapping) for row in tx.run(text(query))] for query in (LINED, NEXT))
        yield
        self.after = look(self.world)

    def check(self) -> None:
        """What holds after every step, whatever it was; what users are told is looked at in turn."""
        for job_id, seen in self.after.items():
            assert [*invariants.of_job(seen.job, Rules())] == [], (job_id, str(seen.job))
        if (turn := self.world.now.second % 6) < len(self.users):
            self.check_usage(self.users[turn])
        self.whole = True

    def check_usage(self, user: UUID) -> None:
        start, end = period(self.world.now)
        told = usage.usage(self.world.uow, self.account(user), now=self.world.now)
        assert told.period == Period(start, end)
        units = told.units[EventType.ANALYSIS]
        assert (units.used, units.reserved, units.limit) == self.figures(user, self.after)

    def figures(self, user: UUID, sight: Sight) -> tuple[int, int, int | None]:
        """Used, reserved, limit, by our own books."""
        start, end = period(self.world.now)
        used = sum(payer == user and start <= at < end for payer, at in self.bills)
        reserved = sum(seen.payer == user and seen.job.reservation is not Hold.NONE for seen in sight.values())
        return used, reserved, self.sold[self.tiers[user]][1]

    def follow(self, job_id: UUID, step: str, *, units: int = 0, holder: Holder = Holder.ALIVE) -> str:
        """The move of the model that was made.  units: used and reserved before."""
        payer = self.after[job_id].payer
        line = self.before[job_id].line if job_id in self.before else payer
        slots, limit = self.sold[self.tiers[line]][0], self.sold[self.tiers[payer]][1]
        most, held = WITHOUT_LIMIT if limit is None else limit, str(line) in self.held
        rules = Rules(most, slots, workers=WITHOUT_LIMIT, zombies=0, held=held)
        label = followed(self.before, self.after, job_id, step, rules, units=units, holder=holder)
        self.check()
        return label

    def nothing_changed(self) -> None:
        assert self.after == self.before
        self.check()

    def looks_as_before(self) -> None:
        """As the model sees it: who joined besides another does not matter to it."""
        assert pictures(self.after) == pictures(self.before)
        self.check()

    def account(self, user: UUID) -> Account:
        with self.world.uow.begin() as tx:
            found = users.find(tx, user)
        assert found is not None
        return found

    def jobs(self, *messages: Message) -> list[UUID]:
        return [job_id for job_id, seen in self.after.items() if seen.job.message in messages]

    def unfinished(self) -> list[UUID]:
        return [job_id for job_id, seen in self.after.items() if seen.job.unfinished]

    def current(self, job_id: UUID) -> Delivery:
        """The delivery whose lease is the job's."""
        (delivery,) = (d for d in self.deliveries if d.lease_token == self.after[job_id].token)
        return delivery

    def late(self) -> list[Delivery]:
        """Deliveries whose lease is lost."""
        return [d for d in self.deliveries if self.after[d.job_id].token != d.lease_token]

    def audit(self) -> None:
        asked = [finding for finding in audit(self.world.uow) if finding.number in LASTING]
        assert {finding.number for finding in asked} == LASTING
        assert [finding for finding in asked if finding.status != HOLDS] == []

    def teardown(self) -> None:
        """Bring every job to its end; then nothing is left, and what is billed is in our books."""
        if not self.whole:
            return
        self.audit()
        for _ in range(200):
            if not (unfinished := self.unfinished()):
                break
            self.drive(unfinished[0])
        left = {table: self.world.value(f"SELECT count(*) FROM {table}")
                for table in ("quota_reservations", "execution_slots", "kombu_dead_letter")}  # fmt: skip
        left["kombu_message"] = self.world.value(OF_JOBS, look=LOOK)
        assert set(left.values()) == {0}, left
        billed = self.world.rows("SELECT user_id, accepted_at FROM usage_events")
        assert sorted((row["user_id"], row["accepted_at"]) for row in billed) == sorted(self.bills)
        for user in self.users:
            self.check_usage(user)

    def drive(self, job_id: UUID) -> None:
        """Bring an unfinished job a step nearer to its end."""
        raise NotImplementedError
