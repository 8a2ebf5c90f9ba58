"""What beat sends: no user, no slot, each run safe to repeat."""

from dataclasses import asdict

import structlog

from app.services.analyses import reschedule as rescheduling
from app.services.fairness import choose_carrier
from app.services.operations import prune as pruning
from app.services.operations import reconcile as reconciling
from app.services.operations import sweep as sweeping
from tasks.celery import app
from tasks.sources import resolve_commit
from tasks.wiring import wired

log = structlog.get_logger(__name__)


#: A round that raised is logged and forgotten: the next slot does its work, and a dead letter would say otherwise.
FORGOTTEN = {"acks_on_failure": True, "acks_on_timeout": True}


@app.task(name="tasks.maintenance.sweep", **FORGOTTEN)
def sweep() -> None:
    """Drop expired holds; orphans are an alarm."""
    kit = wired()
    swept = sweeping.sweep(kit.uow, kit.policy, now=kit.uow.now())
    choose_carrier.settle_waiting(kit.uow, kit.policy)
    log.log(30 if swept.orphans or swept.buried else 20, "swept", **swept.counts)


@app.task(name="tasks.maintenance.prune", **FORGOTTEN)
def prune() -> None:
    """Drop what has expired, and what nobody refers to."""
    uow = wired().uow
    log.info("pruned", **pruning.prune(uow, now=uow.now()).counts)


@app.task(name="tasks.maintenance.reconcile", **FORGOTTEN)
def reconcile() -> None:
    """Prove that what completed is what was billed; a difference is a defect."""
    uow = wired().uow
    done = reconciling.reconcile(uow, now=uow.now())
    level = 40 if done.differences else 20
    log.log(level, "reconciled", jobs=done.jobs, events=done.events, differences=done.differences[:10])


@app.task(name="tasks.maintenance.reschedule", **FORGOTTEN)
def reschedule() -> None:
    """Enqueue the repositories whose time has come."""
    kit = wired()
    done = rescheduling.reschedule(
        kit.uow,
        lambda repository: resolve_commit(repository, None, None, kit.settings),
        kit.policy,
        now=kit.uow.now(),
    )
    log.info("rescheduled", **asdict(done))
