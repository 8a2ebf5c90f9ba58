"""A world in which specifications are written, by a generator that a test can make fail."""

from __future__ import annotations

from dataclasses import dataclass, replace
from uuid import UUID

from service_harness.deliveries import rescheduler
from service_harness.scribe import Scribe

from app.domain.lifecycle import Delivery, Outcome
from app.domain.queues import Service
from app.domain.specification import Mode
from app.services.analyses.submission import Wanted
from app.services.jobs.answers import Answer
from app.services.jobs.start import start
from app.services.operations.audit import HOLDS, audit
from app.services.specifications import submit_specification
from app.services.specifications.specify import specify
from app.services.specifications.submit_specification import WantedSpecification
from app.store.accounts import users
from app.store.accounts.users import Account
from app.store.analyses.inventories import FileRow
from tests.conftest import World, keyed
from tests.race.invariants import broken


def of_a_model(world: World) -> World:
    """The same world, in which a model writes: its sentences are others each time."""
    return replace(world, policy=replace(world.policy, generator="model of tests"))


def file_of(path: str, *names: str) -> FileRow:
    """A file of tests, its blob told by what is in it."""
    tests = [
        {"framework": "pytest", "suites": [], "name": name, "line": line, "status": "active", "kind": "test"}
        for line, name in enumerate(names, 1)
    ]
    return FileRow(path, f"{abs(hash((path, names))):040x}"[:40], "pytest", tests, None)


@dataclass(frozen=True)
class Writing:
    """Short words for what tests of specifications set up."""

    world: World

    def account(self, user_id: UUID) -> Account:
        with self.world.uow.begin() as tx:
            found = users.find(tx, user_id)
        assert found
        return found

    def analysed(self, user_id: UUID, *files: FileRow, wanted: Wanted | None = None) -> UUID:
        """A completed analysis."""
        delivery = self.world.running(user_id, wanted)
        assert self.world.finish(delivery, user_id, files) is Outcome.COMPLETED
        return delivery.job_id

    def ask(
        self,
        user_id: UUID,
        analysis_id: UUID,
        mode: Mode = Mode.INITIAL,
        *,
        language: str = "en",
        key: str | None = None,
    ) -> Answer:
        wanted = WantedSpecification(analysis_id, language, mode)
        given = keyed(key, repr(wanted).encode().ljust(32)[:32]) if key else None
        return submit_specification.submit(
            self.world.uow, self.account(user_id), wanted, self.world.policy, key=given, now=self.world.now
        )

    def submit(self, user_id: UUID, analysis_id: UUID, mode: Mode = Mode.INITIAL) -> UUID:
        return self.ask(user_id, analysis_id, mode).job.id

    def cost(self, user_id: UUID, analysis_id: UUID, mode: Mode = Mode.INITIAL) -> int:
        """Of a dry run."""
        wanted = WantedSpecification(analysis_id, "en", mode)
        return int(
            submit_specification.dry_run(self.world.uow, self.account(user_id), wanted, self.world.policy).units.amount
        )

    def started(self, user_id: UUID, job_id: UUID) -> Delivery:
        delivery = self.world.lease(job_id)
        assert self.start(delivery, user_id) is Outcome.STARTED
        return delivery

    def start(self, delivery: Delivery, user_id: UUID) -> Outcome:
        return start(
            self.world.uow,
            delivery,
            Service.SPECVIEW,
            user_id,
            self.world.policy,
            snooze=rescheduler(delivery, "snooze"),
            roll=0.5,
            now=self.world.now,
        )

    def write(self, delivery: Delivery, user_id: UUID, scribe: Scribe | None = None) -> Outcome:
        """The body of the job."""
        return specify(
            self.world.uow,
            delivery,
            user_id,
            scribe or Scribe(),
            self.world.policy,
            checkpoint=lambda *_: None,
            now=self.world.now,
        )

    def written(
        self, user_id: UUID, analysis_id: UUID, mode: Mode = Mode.INITIAL, scribe: Scribe | None = None
    ) -> UUID:
        """A completed specification."""
        job_id = self.submit(user_id, analysis_id, mode)
        assert self.write(self.started(user_id, job_id), user_id, scribe) is Outcome.COMPLETED
        return job_id

    def billed(self, user_id: UUID) -> int:
        return int(
            self.world.value(
                "SELECT coalesce(sum(quota_amount), 0) FROM usage_events WHERE user_id = :id AND event_type = 'specview'",
                id=user_id,
            )  # type: ignore[call-overload]
        )


SHOP = file_of("tests/test_shop.py", "test_buys", "test_sells")


def holds(world: World) -> None:
    assert [finding for finding in audit(world.uow) if finding.status != HOLDS] == []
    assert broken(world) == []


def left(world: World) -> list[dict[str, object]]:
    return world.rows("""
        SELECT 'reservation' AS what FROM quota_reservations UNION ALL SELECT 'slot' FROM execution_slots
         UNION ALL SELECT 'message' FROM kombu_message""")
