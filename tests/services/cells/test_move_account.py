"""An account moves with everything, once, and its jobs run to their ends."""

from __future__ import annotations

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.services.cells.move_account import move
from app.services.operations.audit import audit
from tests.conftest import A_FILE, World


def broken(world: World) -> list[object]:
    return [(finding.number, finding.rows) for finding in audit(world.uow) if finding.status != "holds"]


def test_a_simple_account_moves_and_its_job_runs_there_once(world: World, there: World) -> None:
    user = world.user(Tier.PRO)
    done, going, queued = world.running(user), world.running(user), world.submit(user)
    assert world.finish(done, user, [A_FILE]) is Outcome.COMPLETED
    moved = move(world.uow, there.uow, user, epoch=1)
    assert moved.rows["analysis_requests"] == 3
    assert (broken(world), broken(there)) == ([], [])
    assert world.finish(going, user, [A_FILE]) is Outcome.STALE
    assert there.status(done.job_id) == "completed"
    for job in (going.job_id, queued):
        again = there.lease(job)
        assert again.attempt == 1
        assert there.start(again, user) is Outcome.STARTED
        assert there.finish(again, user, [A_FILE]) is Outcome.COMPLETED
    assert there.value("SELECT sum(amount) FROM usage_sums") == 3
    assert world.rows("SELECT * FROM usage_events") == []
    assert (broken(world), broken(there)) == ([], [])
