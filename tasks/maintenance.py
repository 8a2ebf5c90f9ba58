"""The tasks that beat sends: without a user or a slot, each safe to repeat."""

from collections.abc import Callable
from dataclasses import asdict
from time import monotonic

import structlog

from app.adapters.git_sources import resolve_commit
from app.services.analyses import reschedule as rescheduling
from app.services.cells import change_cell
from app.services.fairness import choose_carrier, move_jobs
from app.services.operations import prune as pruning
from app.services.operations import reconcile as reconciling
from app.services.operations import sweep as sweeping
from tasks.celery import app
from tasks.wiring import wired

log = structlog.get_logger(__name__)


#: A failed run is only logged: the next slot does its work, and a dead letter would suggest otherwise.
FORGOTTEN = {"acks_on_failure": True, "acks_on_timeout": True}
#: A run of the hourly task asks no further host after this time, so that it ends before the next one.
RESCHEDULE_SECONDS = 50 * 60


@app.task(name="tasks.maintenance.sweep", **FORGOTTEN)
def sweep() -> None:
    """Remove expired holds; an orphan is an alarm."""
    kit = wired()
    swept = sweeping.sweep(kit.uow, kit.policy, now=kit.uow.now())
    log.log(30 if swept.orphans or swept.buried else 20, "swept", **swept.counts)
    move_jobs.move_misplaced(kit.uow)
    choose_carrier.settle_waiting(kit.uow, kit.policy)
    if kit.cells:
        for place in change_cell.settle_left(kit.cells, actor="sweep"):
            log.warning("move_settled", tenant=str(place.user_id), cell=place.cell, epoch=place.epoch)
        change_cell.forget_old_keys(kit.cells)


@app.task(name="tasks.maintenance.prune", **FORGOTTEN)
def prune() -> None:
    """Delete rows that have expired, and rows that nothing refers to."""
    kit = wired()
    log.info("pruned", **pruning.prune(kit.uow, now=kit.uow.now(), objects=kit.objects).counts)


@app.task(name="tasks.maintenance.reconcile", **FORGOTTEN)
def reconcile() -> None:
    """Compare completed jobs with bills; a difference is a defect."""
    uow = wired().uow
    done = reconciling.reconcile(uow, now=uow.now())
    level = 40 if done.differences else 20
    log.log(level, "reconciled", jobs=done.jobs, events=done.events, differences=done.differences[:10])


@app.task(name="tasks.maintenance.reschedule", **FORGOTTEN)
def reschedule() -> None:
    """Enqueue the repositories that are due."""
    kit = wired()
    done = rescheduling.reschedule(
        kit.uow,
        lambda repository: resolve_commit(repository, None, None, kit.settings),
        kit.policy,
        now=kit.uow.now(),
        expired=_after(RESCHEDULE_SECONDS),
    )
    log.info("rescheduled", **asdict(done))


def _after(seconds: float) -> Callable[[], bool]:
    until = monotonic() + seconds
    return lambda: monotonic() > until
