"""One fault at a time: how each is seeded, and what a check says of it before and after it is mended."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from durable_harness.waiting import wait_for

from app.adapters.upkeep import take_back
from app.domain.objects import Objects
from app.services.operations.doctor import CHECKS, Diagnosis, Instruments, examine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World

SECONDS = {"analysis": 1200.0, "specview": 5400.0, "maintenance": 21600.0}
UP = "SELECT extract(epoch FROM clock_timestamp() - pg_postmaster_start_time()) > 15"
#: What a session has counted is seen by others at once.
FLUSH = "SELECT pg_stat_force_next_flush()"


@dataclass
class Doctor:
    """Runs single checks on a world.  owner: of the tables; None: the world's own role; objects: the store of them."""

    world: World
    folder: Path
    owner: UnitOfWork | None = None
    objects: Objects | None = None
    hears: Callable[[], bool] = field(default=lambda: True)
    migrate: Callable[[], str] = field(default=lambda: "nothing")

    def see(self, *names: str, fix: bool = False) -> Diagnosis:
        """The outcome of one check."""
        [check] = [check for check in CHECKS if check.name in names]
        [found] = examine(self.instruments, fix=fix, checks=[check])
        return found

    def mend(self, name: str) -> Diagnosis:
        """Find a fault, mend it, and find it no more.  -> what was said of it."""
        found = self.see(name)
        assert (found.status, bool(found.rows), bool(found.by_hand)) == ("found", True, True), found
        mended = self.see(name, fix=True)
        assert (mended.status, mended.by_hand) == ("mended", None), mended
        assert mended.rows
        assert self.see(name).status == "ok"
        logged = "SELECT subject FROM audit_log WHERE action = 'doctor.fix' AND actor = 'test' AND facts->>'did' = :did"
        assert self.world.value(logged, did=mended.mended) == name
        return mended

    @property
    def instruments(self) -> Instruments:
        return Instruments(
            uow=self.world.uow, policy=self.world.policy, actor="test", seconds=SECONDS, folder=self.folder,
            as_owner=lambda: self.owner or self.world.uow, hears=self.hears, take_back=self._take_back,
            migrate=self.migrate, objects=self.objects, pause=0,
        )  # fmt: skip

    def _take_back(self) -> bool:
        wait_for(lambda: self.world.value(UP), "the server to be up for long enough")
        return take_back(self.world.uow)
