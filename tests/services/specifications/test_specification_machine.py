"""Random histories of specifications beside analyses of the same users, each step held against a count of words.

LIFECYCLE_EXAMPLES histories (8 in the suite) of LIFECYCLE_STEPS steps (25); `make prove-lifecycle` runs more of them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar
from uuid import UUID, uuid4

import pytest
from durable_harness.emptied import Emptied
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule, run_state_machine_as_test
from service_harness.deliveries import rescheduler
from service_harness.scribe import Scribe, Struck

from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.specification import Mode
from app.errors import Problem, QuotaExceeded
from app.services.jobs.cancel import cancel
from app.services.jobs.fail import fail
from app.services.operations.audit import HOLDS, audit
from app.services.operations.sweep import sweep
from app.store.specifications import spec_words
from tests.conftest import World
from tests.databases import Databases
from tests.race.invariants import broken
from tests.services.specifications.writing import Writing, file_of, of_a_model

EXAMPLES, STEPS = int(os.environ.get("LIFECYCLE_EXAMPLES", "8")), int(os.environ.get("LIFECYCLE_STEPS", "25"))
#: Units of specifications and slots of a tier.
SOLD = {Tier.FREE: (6, 1), Tier.PRO: (14, 2)}
PLAN = """
    UPDATE subscription_plans SET spec_units_per_period = :units, concurrent_jobs = :slots, analyses_per_period = NULL
     WHERE tier = CAST(:tier AS plan_tier) RETURNING tier"""
FIGURES = """
    SELECT coalesce((SELECT sum(quota_amount) FROM usage_events WHERE user_id = :id AND event_type = 'specview'), 0)
           AS used,
           coalesce((SELECT sum(reserved_amount) FROM quota_reservations WHERE user_id = :id AND event_type = 'specview'),
                    0) AS reserved"""
NAMES = [f"test_{number}" for number in range(5)]
STAYS = Failure("internal_error", "Never.")


@dataclass
class Word:
    """take: which of the sentences that a scribe may write for this test."""

    take: int
    is_paid: bool = False


@dataclass
class Job:
    """held: units; delivery: of the attempt under way; started: has a record, which only workers end; ended: how.

    said: what its document says, by test, once there is one; place: among those that have completed.
    """

    user: UUID
    analysis: UUID
    mode: Mode
    held: int
    delivery: Delivery | None = None
    started: bool = False
    cancelling: bool = False
    ended: Outcome | None = None
    said: dict[str, int] = field(default_factory=dict)
    place: int = 0


@dataclass
class Analysis:
    """words: those of its repository; fresh: takes that a user has found anew there, and not paid, by test."""

    id: UUID
    names: list[str]
    words: dict[str, Word] = field(default_factory=dict)
    fresh: dict[UUID, dict[str, int]] = field(default_factory=dict)

    def unpaid(self) -> int:
        return sum(name not in self.words or not self.words[name].is_paid for name in self.names)

    def says(self) -> dict[str, int]:
        """What a document from the stored words would say."""
        return {name: self.words[name].take for name in self.names if name in self.words}


class Desks(RuleBasedStateMachine):
    """Two users on plans of few units, who share repositories."""

    fresh: ClassVar[World]
    rows: ClassVar[Emptied]

    def __init__(self) -> None:
        super().__init__()
        self.rows.take_out()  # the invariants are asked of all that is there
        self.world = of_a_model(self.fresh)
        self.writing, self.completed = Writing(self.world), 0
        for tier, (units, slots) in SOLD.items():
            self.world.rows(PLAN, units=units, slots=slots, tier=tier.value)
        self.tiers = {self.world.user(tier): tier for tier in SOLD}
        self.users, self.used = list(self.tiers), dict.fromkeys(self.tiers, 0)
        self.world.running(self.users[1])  # an analysis, which takes nothing of the other service's
        self.repositories: dict[str, tuple[dict[str, Word], dict[UUID, dict[str, int]]]] = {
            f"shop-{uuid4().hex}": ({}, {user: {} for user in self.users}) for _ in range(2)
        }
        self.analyses: list[Analysis] = []
        self.jobs: dict[UUID, Job] = {}
        for which, names in ((0, NAMES[:3]), (0, NAMES[1:]), (1, NAMES[:2])):
            self.analyse(0, which, names)

    def teardown(self) -> None:
        found = [one for one in audit(self.world.uow) if one.status != HOLDS]
        # no node runs here, so nobody renews a lease or makes ready what is due
        assert [(one.number, one.rows) for one in found if one.number != "I9"] == []

    @rule(
        who=st.integers(0, 1), which=st.integers(0, 1), names=st.lists(st.sampled_from(NAMES), unique=True, max_size=4)
    )
    def analyses_a_commit(self, who: int, which: int, names: list[str]) -> None:
        self.analyse(who, which, names)

    def analyse(self, who: int, which: int, names: list[str]) -> None:
        name, (words, fresh) = list(self.repositories.items())[which]
        tests, wanted = file_of("tests/test_shop.py", *names), self.world.wanted(name)
        found = self.writing.analysed(self.users[who], tests, wanted=wanted)
        self.analyses.append(Analysis(found, names, words, fresh))

    @rule(who=st.integers(0, 1), data=st.data(), mode=st.sampled_from(list(Mode)), begins=st.booleans())
    def asks(self, who: int, data: st.DataObject, mode: Mode, begins: bool) -> None:
        analysis = data.draw(st.sampled_from(self.analyses))
        self.ask(self.users[who], analysis, mode)
        if begins and (waiting := self.some(under_way=False)):
            self.start(waiting[-1])

    def ask(self, user: UUID, analysis: Analysis, mode: Mode) -> None:
        mine = {job_id: job for job_id, job in self.jobs.items() if (job.user, job.analysis) == (user, analysis.id)}
        units = len(analysis.names) if mode is Mode.REGENERATE_FRESH else analysis.unpaid()
        assert self.writing.cost(user, analysis.id, mode) == units
        answer = self.answer(user, analysis.id, mode)
        # one that is about to end is nobody's any more: whoever asks gets a job of their own
        if alive := [job_id for job_id, job in mine.items() if job.ended is None and not job.cancelling]:
            assert (answer.is_known, answer.job.id) == (False, alive[0])
            return
        ended = {job.place: job_id for job_id, job in mine.items() if job.ended is Outcome.COMPLETED}
        newest = ended[max(ended)] if ended else None
        if newest and (mode is Mode.INITIAL or self.is_the_same(mine[newest], analysis, mode)):
            assert (answer.is_known, answer.job.id) == (True, newest)
            return
        limit, held = SOLD[self.tiers[user]][0], self.reserved(user)
        if units and self.used[user] + held + units > limit:
            assert isinstance(answer, QuotaExceeded)
            assert (answer.extensions["used"], answer.extensions["reserved"]) == (self.used[user], held)
            return
        assert not answer.is_known
        self.jobs[answer.job.id] = Job(user, analysis.id, mode, units)

    def is_the_same(self, newest: Job, analysis: Analysis, mode: Mode) -> bool:
        return mode is Mode.REGENERATE_CACHED and not analysis.unpaid() and newest.said == analysis.says()

    def answer(self, user: UUID, analysis_id: UUID, mode: Mode) -> Any:
        try:
            return self.writing.ask(user, analysis_id, mode)
        except Problem as problem:
            return problem

    @precondition(lambda self: self.some(under_way=False))
    @rule(data=st.data())
    def starts(self, data: st.DataObject) -> None:
        self.start(data.draw(st.sampled_from(self.some(under_way=False))))

    def start(self, job_id: UUID) -> None:
        job = self.jobs[job_id]
        taken = sum(other.delivery is not None and other.user == job.user for other in self.jobs.values())
        delivery = self.world.lease(job_id)
        outcome = self.writing.start(delivery, job.user)
        if job.cancelling:
            assert outcome is Outcome.CANCELLED
            self.ends(job, outcome)
        elif outcome is Outcome.FAILED:  # no attempt is left
            self.ends(job, outcome)
        else:
            assert outcome is (Outcome.STARTED if taken < SOLD[self.tiers[job.user]][1] else Outcome.SNOOZED)
            job.delivery = delivery if outcome is Outcome.STARTED else None
            job.started = job.started or outcome is Outcome.STARTED

    @precondition(lambda self: self.some(under_way=True))
    @rule(data=st.data(), strikes_at=st.sampled_from([None, None, 0, 1, 2]), take=st.integers(0, 2))
    def writes(self, data: st.DataObject, strikes_at: int | None, take: int) -> None:
        job_id = data.draw(st.sampled_from(self.some(under_way=True)))
        job, scribe = self.jobs[job_id], Scribe(strikes_at=strikes_at, take=take)
        analysis = next(one for one in self.analyses if one.id == job.analysis)
        fresh = job.mode is Mode.REGENERATE_FRESH
        there = analysis.fresh[job.user] if fresh else analysis.words
        missing = [name for name in analysis.names if name not in there]
        written = missing[:strikes_at]
        try:
            outcome = self.writing.write(self.delivery(job), job.user, scribe)
        except Struck:
            outcome = None
        assert scribe.phrased == written
        if fresh:
            analysis.fresh[job.user] |= dict.fromkeys(written, take)
        else:
            analysis.words |= {name: Word(take) for name in written}
        if len(written) < len(missing):
            assert outcome is None
            self.dies(job_id)
        elif job.cancelling:
            assert outcome is Outcome.CANCELLED
            self.ends(job, Outcome.CANCELLED)
        else:
            assert outcome is Outcome.COMPLETED
            self.pays(job, analysis)
            self.ends(job, Outcome.COMPLETED)

    def pays(self, job: Job, analysis: Analysis) -> None:
        fresh = job.mode is Mode.REGENERATE_FRESH
        self.used[job.user] += len(analysis.names) if fresh else min(analysis.unpaid(), job.held)
        if fresh:
            analysis.words |= {name: Word(analysis.fresh[job.user].pop(name)) for name in analysis.names}
        for name in analysis.names:
            analysis.words[name].is_paid = True
        self.completed += 1
        job.said, job.place = analysis.says(), self.completed

    def dies(self, job_id: UUID) -> None:
        self.world.lose(job_id)
        self.jobs[job_id].delivery = None

    @precondition(lambda self: self.some(under_way=True))
    @rule(data=st.data())
    def fails(self, data: st.DataObject) -> None:
        job = self.jobs[data.draw(st.sampled_from(self.some(under_way=True)))]
        delivery = self.delivery(job)
        retry = rescheduler(delivery, "retry")
        outcome = fail(
            self.world.uow, delivery, Service.SPECVIEW, job.user, STAYS, retry=retry, roll=0.5, now=self.world.now
        )
        assert outcome is (Outcome.CANCELLED if job.cancelling else Outcome.FAILED)
        self.ends(job, outcome)

    @precondition(lambda self: self.some())
    @rule(data=st.data())
    def cancels(self, data: st.DataObject) -> None:
        job_id = data.draw(st.sampled_from(self.some()))
        job = self.jobs[job_id]
        cancel(self.world.uow, job_id, self.writing.account(job.user), self.world.policy, now=self.world.now)
        if job.started:
            job.cancelling = True
        else:
            self.ends(job, Outcome.CANCELLED)

    @rule()
    def is_cleaned_up(self) -> None:
        swept = sweep(self.world.uow, self.world.policy, now=self.world.now)
        assert (swept.orphans, swept.buried) == (0, 0)

    def ends(self, job: Job, outcome: Outcome) -> None:
        job.ended, job.held, job.delivery = outcome, 0, None

    def some(self, *, under_way: bool | None = None) -> list[UUID]:
        """Jobs that have not ended.  under_way: those that a worker has, or has not."""
        alive = {job_id: job for job_id, job in self.jobs.items() if job.ended is None}
        return [job_id for job_id, job in alive.items() if under_way in (None, job.delivery is not None)]

    def delivery(self, job: Job) -> Delivery:
        assert job.delivery is not None
        return job.delivery

    def reserved(self, user: UUID) -> int:
        return sum(job.held for job in self.jobs.values() if job.user == user)

    @invariant()
    def figures_are_as_counted(self) -> None:
        for user in self.users:
            [seen] = self.world.rows(FIGURES, id=user)
            assert seen == {"used": self.used[user], "reserved": self.reserved(user)}
        assert broken(self.world) == []


@pytest.fixture
def rows(databases: Databases, database_url: str) -> Iterator[Emptied]:
    with databases.rows_of(database_url) as found:
        yield found


def explore(world: World, rows: Emptied, **changes: Any) -> None:
    machine = type("OnThisDatabase", (Desks,), {"fresh": world, "rows": rows})
    given = {"max_examples": EXAMPLES, "phases": (Phase.generate, Phase.shrink), **changes}
    run_state_machine_as_test(
        machine,
        settings=settings(**given, stateful_step_count=STEPS, suppress_health_check=list(HealthCheck)),
    )


@pytest.mark.proof
@pytest.mark.timeout(7200)  # a failure is made small before it is told
def test_every_history_of_specifications_goes_as_counted(world: World, rows: Emptied) -> None:
    explore(world, rows)


@pytest.mark.proof
def test_a_finish_that_marks_no_word_as_paid_is_found(
    world: World, rows: Emptied, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(spec_words, "pay", lambda _tx, keys, **_: len(keys))
    with pytest.raises(AssertionError):
        explore(world, rows, max_examples=60, phases=(Phase.generate,), derandomize=True, report_multiple_bugs=False)
