"""A move whose process dies is settled: the account is in exactly one cell, with everything."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

import pytest

from app.domain.lifecycle import Delivery, Outcome
from app.domain.plans import Tier
from app.services.cells.move_account import settle
from tests.conftest import A_FILE, World
from tests.services.cells.accounts import broken, ended, left_of, picture
from tests.services.cells.killing import killed

#: Each statement is in one of so many tests.
STRIDE = 10
BILLS = "SELECT job_id, count(*) AS bills FROM usage_events GROUP BY job_id"
PREPARED = "SELECT gid FROM pg_prepared_xacts WHERE database = current_database()"


def account(world: World) -> tuple[UUID, UUID, list[UUID]]:
    """A small one, with a bill and jobs that wait."""
    user = world.user(Tier.PRO)
    done = world.running(user)
    world.finish(done, user, [A_FILE])
    return user, done.job_id, [world.submit(user) for _ in range(2)]


@dataclass
class Travels:
    """An account that moves there and back.

    cells: where it lives, and the other one; done: a job that ended; delivery: of one that runs.
    """

    cells: list[World]
    user: UUID
    done: UUID
    jobs: list[UUID]
    delivery: Delivery | None = None
    epoch: int = 0

    def die(self, after: int) -> bool:
        """One move, which dies after so many statements, and what must be so when it is settled; -> whether it died."""
        source, target = self.cells
        self.epoch += 1
        if self.delivery is None:
            self.delivery = source.lease(self.jobs[0])
            assert source.start(self.delivery, self.user) is Outcome.STARTED
        before = picture(source, self.user)
        died = killed(source, target, self.user, epoch=self.epoch, after=after)
        moved = settle(source.uow, target.uow, self.user, epoch=self.epoch)
        assert settle(source.uow, target.uow, self.user, epoch=self.epoch) is moved
        home, other = (target, source) if moved else (source, target)
        assert picture(home, self.user) == before
        assert {table for table, rows in picture(other, self.user).items() if rows} == set()
        assert left_of(other, [self.jobs[0], self.done]) == []
        assert broken(source) == broken(target) == []
        assert source.rows(PREPARED) == target.rows(PREPARED) == []
        if moved:
            assert source.finish(self.delivery, self.user, [A_FILE]) is Outcome.STALE
            self.cells.reverse()
            self.delivery = None
        return died


@pytest.mark.proof
@pytest.mark.parametrize("first", range(STRIDE))
def test_a_mover_may_die_before_each_of_its_statements(world: World, there: World, first: int) -> None:
    user, done, jobs = account(world)
    travels, after = Travels([world, there], user, done, jobs), first
    while travels.die(after):
        after += STRIDE
    assert after > 60
    home, other = travels.cells
    for job in jobs:
        assert ended(home, user, job) is Outcome.COMPLETED
    bills = [row for cell in (home, other) for row in cell.rows(BILLS)]
    assert len(bills) == len({row["job_id"] for row in bills}) == 1 + len(jobs)
    assert {row["bills"] for row in bills} == {1}
    assert broken(home) == broken(other) == []


def test_a_mover_that_dies_early_and_one_that_dies_late_are_settled(world: World, there: World) -> None:
    user, done, jobs = account(world)
    travels = Travels([world, there], user, done, jobs)
    for after in (10, 60):  # before anything was copied, and when most of it was
        assert travels.die(after)
        assert travels.cells[0] is world
    assert not travels.die(10_000)
    assert travels.cells[0] is there
