"""A database with a job in every state and every way there, as the services make them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import timedelta
from uuid import UUID, uuid4

from service_harness.deliveries import hold_leases

from app.domain.lifecycle import Delivery, Failure, Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.services.accounts import sessions, tiers, tokens
from app.services.analyses.reschedule import reschedule
from app.services.analyses.submit import submit
from app.services.jobs.cancel import cancel
from app.services.jobs.fail import stop
from app.services.operations.dead_letters import Chosen, redrive
from app.services.operations.send_schedule import ScheduledEntry, send_newest_slot
from app.services.operations.sweep import sweep
from app.store.accounts import users
from app.store.accounts.users import Account
from tests.conftest import A_FILE, NOW, World, keyed

GONE = Failure("repository_not_found", "There is no such repository.")
BROKEN = Failure("internal_error", "Something failed on our side.", retryable=True)
BURY = """
    WITH dead AS (DELETE FROM kombu_message WHERE task_id = :id RETURNING *)
    INSERT INTO kombu_dead_letter (queue, task_id, user_id, payload, reason, unique_key, rank_step, enqueued_at)
    SELECT name, task_id, user_id, payload, 'lost', unique_key, rank_step, enqueued_at
      FROM dead JOIN kombu_queue ON kombu_queue.id = queue_id RETURNING id"""


def account(world: World, user_id: UUID) -> Account:
    with world.uow.begin() as tx:
        found = users.find(tx, user_id)
    assert found is not None
    return found


def leave(world: World, job_id: UUID, user_id: UUID) -> None:
    """Cancel on behalf of a user."""
    cancel(world.uow, job_id, account(world, user_id), world.policy, now=world.now)


def bury(world: World, job_id: UUID) -> int | None:
    """What the broker does with a message it gives up; the letter's id, None when the message is gone."""
    rows = world.rows(BURY, id=str(job_id))
    return int(str(rows[0]["id"])) if rows else None


@dataclass
class Busy:
    """The jobs by what became of them.  user: pays for most; queued and running ones hold slots and units."""

    world: World
    user: UUID
    other: UUID
    jobs: dict[str, UUID]
    running: Delivery


def fill(world: World) -> Busy:
    """Jobs in every state.  Nothing here writes but the services, the broker's stand-ins, and the clock."""
    user, other = world.user(Tier.ENTERPRISE), world.user(Tier.ENTERPRISE)
    jobs = {"queued": world.submit(user)}
    jobs |= _ended(world, user) | _shared(world, user, other) | _dead(world, user) | _modes(world)
    _reschedule(world)
    [scheduled] = world.rows("SELECT job_id FROM analysis_requests WHERE trigger = 'scheduled'")
    jobs["scheduled"] = UUID(str(scheduled["job_id"]))
    jobs |= _limited(world)
    _accounts(world, user)
    running = world.running(user)
    retrying = world.running(user)
    assert world.fail(retrying, user, BROKEN) is Outcome.RETRY
    lost = world.running(user)
    world.lose(lost.job_id)  # its slot is dead, nobody has taken it yet
    with world.uow.begin() as tx:
        hold_leases(tx)
    jobs |= {"running": running.job_id, "retrying": retrying.job_id, "lost": lost.job_id}
    return Busy(world, user, other, jobs, running)


def _ended(world: World, user: UUID) -> dict[str, UUID]:
    completed, later, failed = world.running(user), world.running(user), world.running(user)
    world.finish(completed, user, [A_FILE, replace(A_FILE, path="b.py", skipped="too_large", tests=[])])
    world.finish(later, user, [A_FILE])
    world.fail(failed, user, GONE)
    cancelled, stopped = world.submit(user), world.running(user)
    leave(world, cancelled, user)
    leave(world, stopped.job_id, user)
    assert stop(world.uow, stopped, Service.ANALYSIS, user, now=world.now) is Outcome.CANCELLED
    asked = world.running(user)
    leave(world, asked.job_id, user)  # its worker has not heard of it yet
    return {
        "completed": completed.job_id, "later": later.job_id, "failed": failed.job_id, "cancelled": cancelled,
        "stopped": stopped.job_id, "asked to stop": asked.job_id,
    }  # fmt: skip


def _shared(world: World, user: UUID, other: UUID) -> dict[str, UUID]:
    left, free, back = (world.wanted() for _ in range(3))
    deliveries = {
        name: world.running(user, wanted) for name, wanted in (("left", left), ("free", free), ("back", back))
    }
    for wanted in (left, free, back):
        world.submit(other, wanted)
    for delivery in deliveries.values():
        leave(world, delivery.job_id, user)
    world.finish(deliveries["free"], user)
    assert world.submit(user, back) == deliveries["back"].job_id
    world.finish(deliveries["back"], user)
    submit(world.uow, other, back, world.policy, key=keyed("k1", b"f" * 32), now=world.now)  # cached
    return {f"payer {name}": delivery.job_id for name, delivery in deliveries.items()}


def _dead(world: World, user: UUID) -> dict[str, UUID]:
    buried, redriven, dead = world.submit(user), world.running(user), world.running(user)
    bury(world, buried)
    assert sweep(world.uow, world.policy, now=world.now).buried == 1
    redrive(world.uow, Chosen((bury(world, redriven.job_id),)), actor="test")
    again = world.lease(redriven.job_id)
    world.start(again, user)
    world.finish(again, user)
    bury(world, dead.job_id)
    return {"buried": buried, "redriven": redriven.job_id, "dead": dead.job_id}


def _modes(world: World) -> dict[str, UUID]:
    poor = world.user(Tier.PRO_PLUS, analyses=0)
    shadow, off = world.with_policy(quota_mode="shadow"), world.with_policy(quota_mode="off")
    jobs = {"shadow": shadow.submit(poor), "off": off.submit(poor)}
    unbilled = off.running(poor)
    off.finish(unbilled, poor, ())
    return jobs | {"unbilled": unbilled.job_id}


def _reschedule(world: World) -> None:
    world.submit(world.user(), world.wanted("garden"))  # viewed, and never analysed
    done = reschedule(world.uow, lambda repository: (uuid4().hex + "0" * 8, "main"), world.policy, now=world.now)
    assert done.enqueued == 1


def _limited(world: World) -> dict[str, UUID]:
    """A plan that was lowered below what is used, and a tier that was, below what runs."""
    user = world.user(Tier.PRO, analyses=4)
    first, second = world.running(user), world.running(user)
    for delivery in (first, second):
        world.finish(delivery, user)
    for _ in range(2):
        world.running(user)
    world.rows("UPDATE subscription_plans SET analyses_per_period = 1 WHERE tier = 'pro' RETURNING tier")
    tiers.change_tier(world.uow, user, Tier.FREE, world.policy, actor="test", now=world.now)
    snoozed = world.lease(world.submit(user))
    assert world.start(snoozed, user) is Outcome.SNOOZED
    return {"first": first.job_id, "second": second.job_id, "snoozed": snoozed.job_id}


def _accounts(world: World, user: UUID) -> None:
    tokens.add_token(world.uow, user, scopes=("read",), name="ci", now=world.now)
    sessions.sign_in_link(world.uow, user, actor="cli:test", now=world.now)
    send_newest_slot(
        world.uow,
        ScheduledEntry("sweep", "tasks.maintenance.sweep", timedelta(minutes=5), "analysis_scheduled"),
        now=NOW,
    )
