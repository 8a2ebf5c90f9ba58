"""Random histories of users, workers and accidents through the real services, each step held against the model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from typing import Any
from uuid import UUID

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from service_harness.deliveries import come_due

from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.errors import Conflict, Forbidden, IdempotencyMismatch, Problem, QuotaExceeded
from app.services.accounts import tiers
from app.services.analyses.submit import submit
from app.services.fairness import choose_carrier, move_jobs
from app.services.jobs import heartbeat
from app.services.jobs.answers import Answer
from app.services.jobs.cancel import cancel
from app.services.jobs.fail import stop
from app.services.operations.sweep import sweep
from app.store.jobs.idempotency import Stored
from app.web.jobs.job_json import rendered
from tests.conftest import keyed
from tests.model.job import HELD, Hold, Holder, Message, Payer, Record, Slot
from tests.model.lines import Lines
from tests.model.observe import woken
from tests.model.steps import Rules
from tests.model.watch import SOLD, TIERS

COMMITS = tuple(f"{number:040x}" for number in range(9))
PASSES, STAYS = Failure("internal_error", "Once.", retryable=True), Failure("repository_not_found", "Never.")
OUTCOMES = {
    "start": Outcome.STARTED,
    "snooze": Outcome.SNOOZED,
    "start meets the cancel": Outcome.CANCELLED,
    "start finds no attempt left": Outcome.FAILED,
    "finish": Outcome.COMPLETED,
    "finish meets the cancel": Outcome.CANCELLED,
    "fail": Outcome.FAILED,
    "retry": Outcome.RETRY,
    "fail meets the cancel": Outcome.CANCELLED,
    "stop": Outcome.CANCELLED,
}
#: What may befall a job, by its message; what keeps it going longest is likelier.
MAY_BEFALL = {
    Message.READY: ("claim", "claim and start", "claim and start"),
    Message.LEASED: ("start", "start", "die"),
    Message.STARTED: ("finish", "retry", "retry", "fail", "stop", "beat", "die", "die"),
    Message.SNOOZED: ("due",),
    Message.BACKOFF: ("due",),
}
WHO = st.integers(0, len(TIERS) - 1)
COMMIT = st.sampled_from(COMMITS)
TIER = st.sampled_from(list(SOLD))
UNITS = st.sampled_from([None, 0, 2, 4, 9])
HOURS = (0.3, 2, 25, 27 * 24)  # within a reservation's life, past it, past that of a key, most of a period


class Life(Lines):
    """Rules are what people, workers, clocks and operators do."""

    # Those who ask

    @rule(who=WHO, commit=COMMIT, retry=st.booleans(), key=st.sampled_from([None, "one", "two"]))
    def submits(self, who: int, commit: str, retry: bool, key: str | None) -> None:
        self.submit(self.users[who], commit, retry=retry, key=key)

    @rule(who=WHO, commits=st.lists(COMMIT, min_size=2, max_size=4, unique=True))
    def submits_some(self, who: int, commits: list[str]) -> None:
        for commit in commits:
            self.submit(self.users[who], commit, retry=True)

    @precondition(lambda self: self.unfinished())
    @rule(who=WHO, data=st.data())
    def asks_for_what_is_under_way(self, who: int, data: st.DataObject) -> None:
        seen = self.after[data.draw(st.sampled_from(self.unfinished()))]
        self.submit(data.draw(st.sampled_from([seen.payer, self.users[who]])), seen.commit)

    def submit(self, user: UUID, commit: str, *, retry: bool = False, key: str | None = None) -> None:
        body = sha256(f"{commit} {retry}".encode()).digest()
        wanted = self.world.wanted(commit=commit, retry=retry)
        with self.watched():
            given = keyed(key, body) if key else None
            answer = outcome(
                lambda: submit(self.world.uow, user, wanted, self.world.policy, key=given, now=self.world.now)
            )
        if key and (user, key) in self.answers:
            first_body, first, _ = self.answers[user, key]
            same = body == first_body
            assert answer == Stored(body, *rendered(first)) if same else isinstance(answer, IdempotencyMismatch)
            self.nothing_changed()
            return
        self.answered(user, commit, retry, answer)
        if key and isinstance(answer, Answer):
            self.answers[user, key] = (body, answer, self.world.now)

    def answered(self, user: UUID, commit: str, retry: bool, answer: Any) -> None:
        """One of: join, come back, the result that is there, a new job, a refusal."""
        of_commit = {job_id: seen for job_id, seen in self.before.items() if seen.commit == commit}
        alive = [job_id for job_id, seen in of_commit.items() if seen.job.unfinished and not seen.job.cancelling]
        if alive:
            assert len(alive) == 1
            self.takes_part(user, alive[0], answer)
            return
        ran = sorted((seen.first_started_at, job_id) for job_id, seen in of_commit.items() if seen.first_started_at)
        known = [job_id for _, job_id in ran if of_commit[job_id].job.record is Record.COMPLETED]
        if not known and not retry and ran and of_commit[ran[-1][1]].job.record is Record.FAILED:
            known = [ran[-1][1]]
        if known:
            assert (answer.is_known, answer.job.id) == (True, known[0])
            self.nothing_changed()
        else:
            self.pays(user, None, answer, "accept")

    def takes_part(self, user: UUID, job_id: UUID, answer: Any) -> None:
        seen = self.before[job_id]
        if seen.payer == user and seen.job.payer is Payer.LEFT:
            self.pays(user, job_id, answer, "come_back")
            return
        assert (answer.is_known, answer.job.id) == (False, job_id)
        assert self.after[job_id].joiners == seen.joiners | ({user} - {seen.payer})
        if user == seen.payer or user in seen.joiners:
            self.looks_as_before()
            return
        self.follow(job_id, "another_joins" if seen.joiners else "join")
        if self.before[job_id].job.message not in HELD:
            self.waits_least(job_id, {self.before[job_id].line, user})

    def pays(self, user: UUID, job_id: UUID | None, answer: Any, step: str) -> None:
        """A unit is reserved, or refused with the figures."""
        used, reserved, limit = self.figures(user, self.before)
        if isinstance(answer, QuotaExceeded):
            assert tuple(answer.extensions[name] for name in ("used", "reserved", "limit")) == (used, reserved, limit)
            assert limit is not None
            assert used + reserved >= limit
            self.nothing_changed()
            return
        made = answer.job.id
        assert not answer.is_known
        assert made == job_id or (job_id is None and made not in self.before)
        self.accepted_at[made] = self.world.now
        self.follow(made, step, units=used + reserved)
        if job_id and self.before[made].job.message not in HELD:
            self.waits_least(made, {self.before[made].line, user})

    @precondition(lambda self: self.after)
    @rule(who=WHO, data=st.data())
    def cancels(self, who: int, data: st.DataObject) -> None:
        job_id = data.draw(st.sampled_from(self.unfinished() or list(self.after)))
        self.cancel(data.draw(st.sampled_from([*self.askers(job_id), self.users[who]])), job_id)

    @precondition(lambda self: self.shared())
    @rule(data=st.data(), times=st.integers(1, 3))
    def those_who_share_a_job_change_their_minds(self, data: st.DataObject, times: int) -> None:
        job_id = data.draw(st.sampled_from(self.shared()))
        for _ in range(times):
            seen = self.after[job_id]
            user = data.draw(st.sampled_from(self.askers(job_id)))
            if seen.job.payer is Payer.LEFT and user == seen.payer:
                self.submit(user, seen.commit)
            else:
                self.cancel(user, job_id)

    def cancel(self, user: UUID, job_id: UUID) -> None:
        seen = self.after[job_id]
        account, role = self.account(user), self.role(user, job_id)
        with self.watched():
            told = outcome(lambda: cancel(self.world.uow, job_id, account, self.world.policy, now=self.world.now))
        if seen.job.record is Record.CANCELLED or role == "left":  # asking again changes nothing and is no error
            assert told is None
        elif role is None:
            assert isinstance(told, Forbidden)
        else:
            assert isinstance(told, Conflict) if seen.job.ended else told is None
        pays, mine = seen.job.payer is Payer.PAYS, user == seen.payer
        if seen.job.ended or seen.job.cancelling or not (pays if mine else user in seen.joiners):
            self.looks_as_before()
        elif mine:
            self.follow(job_id, "cancel_by_payer")
        else:
            self.follow(job_id, "cancel_by_joiner" if seen.joiners == {user} else "another_leaves")
        left = (pays if mine else user in seen.joiners) and not self.after[job_id].job.cancelling
        if left and seen.line == user and not self.after[job_id].job.ended and seen.job.message not in HELD:
            assert self.after[job_id].line in self.present(job_id)

    # Workers, and what befalls them

    @precondition(lambda self: self.jobs(Message.READY))
    @rule(times=st.integers(1, 4))
    def workers_take_up_jobs(self, times: int) -> None:
        for _ in range(times):  # a start may hold back those that are ready behind it
            if ready := self.jobs(Message.READY):
                self.befall(ready[0], "claim and start")

    @precondition(lambda self: self.jobs(Message.READY))
    @rule(data=st.data(), times=st.integers(1, 4))
    def a_job_kills_its_workers(self, data: st.DataObject, times: int) -> None:
        job_id = data.draw(st.sampled_from(self.jobs(Message.READY)))
        for _ in range(times):
            if self.after[job_id].job.message is Message.READY:
                self.befall(job_id, "claim and start")
            if self.after[job_id].job.message is Message.STARTED:
                self.die(job_id)

    @precondition(lambda self: self.unfinished())
    @rule(data=st.data(), times=st.integers(1, 4))
    def something_befalls_jobs(self, data: st.DataObject, times: int) -> None:
        for _ in range(times):
            if unfinished := self.unfinished():
                job_id = data.draw(st.sampled_from(unfinished))
                self.befall(job_id, data.draw(st.sampled_from(MAY_BEFALL[self.after[job_id].job.message])))

    def befall(self, job_id: UUID, what: str) -> None:
        match what:
            case "claim" | "claim and start":
                self.claim(job_id)
                if what != "claim":
                    self.start(job_id)
            case "start":
                self.start(job_id)
            case "die":
                self.die(job_id)
            case "due":
                self.fall_due(job_id)
            case _:
                self.go_on(job_id, what)

    def claim(self, job_id: UUID) -> None:
        with self.watched():
            self.deliveries.append(self.world.lease(job_id))
        self.follow(job_id, "claim")

    def start(self, job_id: UUID) -> None:
        delivery = self.current(job_id)
        with self.watched():
            told = self.act(delivery, "start")
        assert told is OUTCOMES[self.follow(job_id, "start")]

    def go_on(self, job_id: UUID, how: str) -> None:
        """A started delivery does something; `stop` is for those that were asked to."""
        seen, delivery = self.after[job_id], self.current(job_id)
        how = "beat" if how == "stop" and not seen.job.cancelling else how
        with self.watched():
            told = self.act(delivery, how)
        if how == "beat":
            assert told is (heartbeat.Pulse.STOP if seen.job.cancelling else heartbeat.Pulse.GO_ON)
            self.nothing_changed()
            return
        if told is Outcome.COMPLETED and seen.job.payer is Payer.PAYS:
            self.bills.append((seen.payer, self.accepted_at[job_id]))
        assert told is OUTCOMES[self.follow(job_id, "fail" if how == "retry" else how)]
        if how == "retry" and not seen.job.cancelling:
            last = seen.job.spent + 1 == Rules().attempts
            assert told is (Outcome.FAILED if last else Outcome.RETRY)

    def act(self, delivery: Delivery, how: str) -> object:
        payer = self.after[delivery.job_id].payer
        calls: dict[str, Callable[[], object]] = {
            "start": lambda: self.world.start(delivery, payer),
            "finish": lambda: self.world.finish(delivery, payer),
            "retry": lambda: self.world.fail(delivery, payer, PASSES),
            "fail": lambda: self.world.fail(delivery, payer, STAYS),
            "stop": lambda: stop(self.world.uow, delivery, Service.ANALYSIS, payer, now=self.world.now),
            "beat": lambda: heartbeat.beat(
                self.world.uow, Service.ANALYSIS, delivery, self.world.policy, ("parsing", 1, 2)
            ),
        }
        return calls[how]()

    def die(self, job_id: UUID) -> None:
        """The sweep comes at once: until then a job whose user's tier changed is on a queue that the model does not have."""
        with self.watched():
            self.world.lose(job_id)
            move_jobs.move_misplaced(self.world.uow)
        self.follow(job_id, "expire", holder=Holder.GONE)

    def fall_due(self, job_id: UUID) -> None:
        with self.watched(), self.world.uow.begin() as tx:
            come_due(tx, job_id)
        self.follow(job_id, "due")

    @precondition(lambda self: self.late())
    @rule(data=st.data(), how=st.sampled_from(["start", "finish", "retry", "fail", "stop", "beat"]))
    def a_zombie_acts(self, data: st.DataObject, how: str) -> None:
        zombie = data.draw(st.sampled_from(self.late()))
        with self.watched():
            told = self.act(zombie, how)
        assert told in (Outcome.STALE, heartbeat.Pulse.LOST)
        self.nothing_changed()

    # Time, and the operator

    @rule(data=st.data(), what=st.sampled_from(["time", "time", "sweep", "tier", "plan"]))
    def meanwhile(self, data: st.DataObject, what: str) -> None:
        match what:
            case "time":
                self.pass_time(data.draw(st.sampled_from(HOURS)))
            case "sweep":
                self.sweep()
            case "tier":
                self.change_tier(self.users[data.draw(WHO)], data.draw(TIER))
            case "plan":
                self.edit_plan(data.draw(TIER), data.draw(st.integers(1, 3)), data.draw(UNITS))

    def pass_time(self, hours: float) -> None:
        with self.watched(timedelta(hours=hours)):
            pass
        self.check()

    def sweep(self) -> None:
        with self.watched():
            swept = sweep(self.world.uow, self.world.policy, now=self.world.now)
        told = {job_id: seen.job for job_id, seen in self.before.items()}
        dead = [job_id for job_id, job in told.items() if job.slot is Slot.DEAD]
        for user in self.users:
            for job_id in woken(self.before, user, sum(self.before[job_id].line == user for job_id in dead)):
                told[job_id] = told[job_id].but(message=Message.READY)
        for job_id, job in told.items():
            slot = Slot.NONE if job_id in dead else job.slot
            fresh = Hold.FRESH if job.reservation is Hold.AGED else job.reservation
            told[job_id] = job.but(slot=slot, reservation=fresh)
        assert {job_id: seen.job for job_id, seen in self.after.items()} == told
        assert (swept.orphans, swept.buried, swept.slots) == (0, 0, len(dead))
        day_ago = self.world.now - timedelta(hours=24)
        self.answers = {key: kept for key, kept in self.answers.items() if kept[2] >= day_ago}
        self.check()

    def change_tier(self, user: UUID, tier: Tier) -> None:
        """The user's waiting jobs go along; each that the user joined moves to the line where it waits least."""
        joined = self.joined_elsewhere(user)
        with self.watched():
            tiers.change_tier(self.world.uow, user, tier, self.world.policy, actor="test", now=self.world.now)
        self.tiers[user] = tier
        told = dict(self.before)
        for job_id in woken(self.before, user, self.sold[tier][0]):
            told[job_id] = replace(told[job_id], job=told[job_id].job.but(message=Message.READY))
        self.check_settled(told, joined)

    @precondition(lambda self: self.waiting_shared())
    @rule(data=st.data(), changes=st.lists(st.sampled_from([*SOLD, None]), min_size=1, max_size=4))
    def rights_in_a_shared_job_change(self, data: st.DataObject, changes: list[Tier | None]) -> None:
        """An asker gets another tier, or a sweep looks whether a line has become shorter."""
        for tier in changes:
            job_id = data.draw(st.sampled_from(self.waiting_shared()))
            if tier:
                self.change_tier(data.draw(st.sampled_from(self.askers(job_id))), tier)
            else:
                self.settle(job_id)

    def settle(self, job_id: UUID) -> None:
        with self.watched(), self.world.uow.begin() as tx:
            choose_carrier.settle(tx, job_id, self.world.policy)
        self.check_settled(self.before, [job_id])

    def edit_plan(self, tier: Tier, slots: int, units: int | None) -> None:
        with self.watched():
            self.sell(tier, slots, units)
        self.nothing_changed()

    def drive(self, job_id: UUID) -> None:
        """A job that runs in the slot of its user is in the way, and goes first."""
        user = self.after[job_id].line
        if running := [other for other in self.jobs(Message.STARTED) if self.after[other].line == user]:
            self.go_on(running[0], "finish")
        elif self.after[job_id].job.message in HELD:
            self.start(job_id)
        else:
            self.befall(job_id, MAY_BEFALL[self.after[job_id].job.message][0])


def outcome(call: Callable[[], Any]) -> Any:
    """What a call returns, or how it refuses."""
    try:
        return call()
    except Problem as problem:
        return problem
