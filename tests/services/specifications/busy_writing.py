"""A database with a specification in every state and every way there, as the services make them."""

from __future__ import annotations

from uuid import UUID

from service_harness.deliveries import hold_leases, rescheduler
from service_harness.scribe import Scribe

from app.domain.lifecycle import Outcome
from app.domain.plans import Tier
from app.domain.queues import Service
from app.domain.specification import Mode
from app.services.jobs.fail import fail, stop
from app.services.operations.sweep import sweep
from app.services.specifications import share_links
from app.services.specifications.submit_specification import WantedSpecification, submit
from tests.conftest import World, keyed
from tests.services.busy import BROKEN, GONE, Busy, bury, leave
from tests.services.specifications.writing import Writing, file_of

SHOP = file_of("tests/test_shop.py", "test_buys", "test_sells")


def fill(world: World) -> Busy:
    """As busy.fill, of the second service: each specification is of an analysis of its own repository."""
    writing = Writing(world)
    user, other = world.user(Tier.ENTERPRISE), world.user(Tier.ENTERPRISE)
    jobs = _ended(writing, user) | _dead(writing, user) | _limited(writing)
    running = writing.started(user, _asked(writing, user, "running"))
    retrying = writing.started(user, _asked(writing, user, "retrying"))
    failed = fail(world.uow, retrying, Service.SPECVIEW, user, BROKEN, retry=rescheduler(retrying, "retry"), roll=0.5,
                  now=world.now)  # fmt: skip
    assert failed is Outcome.RETRY
    lost = writing.started(user, _asked(writing, user, "lost"))
    world.lose(lost.job_id)
    with world.uow.begin() as tx:
        hold_leases(tx)
    jobs |= {"running": running.job_id, "retrying": retrying.job_id, "lost": lost.job_id}
    jobs["queued"] = _asked(writing, user, "queued")
    return Busy(world, user, other, jobs, running)


def _asked(writing: Writing, user: UUID, name: str) -> UUID:
    return writing.submit(user, writing.analysed(user, SHOP, wanted=writing.world.wanted(name)))


def _ended(writing: Writing, user: UUID) -> dict[str, UUID]:
    world = writing.world
    analysis = writing.analysed(user, SHOP, wanted=world.wanted("completed"))
    wanted = WantedSpecification(analysis)
    submit(world.uow, writing.account(user), wanted, world.policy, key=keyed("k", b"f" * 32), now=world.now)
    [asked] = world.rows("SELECT job_id FROM spec_requests")
    completed = UUID(str(asked["job_id"]))
    assert writing.write(writing.started(user, completed), user) is Outcome.COMPLETED
    share_links.make(world.uow, completed, writing.account(user), now=world.now)
    next_commit = writing.analysed(user, SHOP, wanted=world.wanted("completed"))
    again = writing.written(user, next_commit, Mode.REGENERATE_CACHED)  # all of it was paid
    half = writing.written(
        user,
        writing.analysed(user, SHOP, wanted=world.wanted("half")),
        scribe=Scribe(falls_back=frozenset({"test_buys"})),
    )
    failed = writing.started(user, _asked(writing, user, "failed"))
    fail(world.uow, failed, Service.SPECVIEW, user, GONE, retry=rescheduler(failed, "retry"), roll=0.5, now=world.now)
    cancelled = _asked(writing, user, "cancelled")
    leave(world, cancelled, user)
    stopped = writing.started(user, _asked(writing, user, "stopped"))
    leave(world, stopped.job_id, user)
    assert stop(world.uow, stopped, Service.SPECVIEW, user, now=world.now) is Outcome.CANCELLED
    return {
        "completed": completed, "again": again, "half": half, "failed": failed.job_id, "cancelled": cancelled,
        "stopped": stopped.job_id,
    }  # fmt: skip


def _dead(writing: Writing, user: UUID) -> dict[str, UUID]:
    world = writing.world
    buried, dead = _asked(writing, user, "buried"), _asked(writing, user, "dead")
    bury(world, buried)
    assert sweep(world.uow, world.policy, now=world.now).buried == 1
    bury(world, dead)
    return {"buried": buried, "dead": dead}


def _limited(writing: Writing) -> dict[str, UUID]:
    """Somebody with four units, of whom both jobs take two; the other service's units are none of them."""
    user = writing.world.user()
    writing.world.rows("UPDATE subscription_plans SET spec_units_per_period = 4 WHERE tier = 'free' RETURNING tier")
    first, second = (_asked(writing, user, name) for name in ("first", "second"))
    assert writing.write(writing.started(user, first), user) is Outcome.COMPLETED
    assert writing.start(writing.world.lease(second), user) is Outcome.STARTED
    return {"first": first, "second": second}
