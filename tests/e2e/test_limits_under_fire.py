"""Limits under fire: nodes and children are killed and stopped, tiers change, and every single commit is judged.

At most FIRE_JOBS jobs (600 in the suite), FIRE_SECONDS seconds of fire (12), FIRE_NODES nodes (3), a fault every FIRE_PAUSE
seconds (0.5), stops of up to FIRE_STOP seconds (6); `make prove-fairness` does 100,000, 1,200, 8, 3 and 60.  Leases and
snoozes are to a stop what the service's own are to a minute.  FIRE_SEED repeats a run's choices.
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text

from app.domain.plans import Tier
from app.services.accounts import tiers
from app.services.operations.audit import HOLDS, audit
from app.store.core import connections
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from tests.conftest import World, publishing
from tests.databases import LOCK_WAITS
from tests.e2e import fire_checks
from tests.e2e.conftest import System
from tests.e2e.fire import Fire, start
from tests.e2e.fire_load import Load
from tests.race.invariants import broken

pytestmark = pytest.mark.proof

JOBS, NODES = int(os.environ.get("FIRE_JOBS", "600")), int(os.environ.get("FIRE_NODES", "3"))
SECONDS, STOP = float(os.environ.get("FIRE_SECONDS", "12")), float(os.environ.get("FIRE_STOP", "6"))
PAUSE = float(os.environ.get("FIRE_PAUSE", "0.5"))
SEED = int(os.environ.get("FIRE_SEED", random.randrange(2**32)))
PROCESSES, USERS, SUBMITTERS = 2, 40, 2
#: After the last fault no slot may be leaked any longer.
GONE_SECONDS = 30.0
LEASE = STOP / 4
TIMES = {
    "LEASE_SECONDS": f"{LEASE:g}",
    "HEARTBEAT_SECONDS": f"{LEASE / 5:g}",
    "FAIRNESS_SNOOZE_DURATION": f"{LEASE * 2:g}",
    "FAIRNESS_SNOOZE_JITTER": f"{LEASE * 2 / 3:g}",
}
RARE_HEARTBEATS = {"LEASE_SECONDS": "1800", "HEARTBEAT_SECONDS": "600"}
#: A node that is in the middle of a nap of half a second: it has not begun to write its end, nor can it in time.
AT_WORK = """
    SELECT 1 FROM kombu_message m
      JOIN kombu_node n ON n.lock = m.lease_owner
      JOIN job_events e ON e.job_id::text = m.task_id AND e.event = 'started'
      JOIN analysis_requests r ON r.job_id = e.job_id
      JOIN codebases c ON c.id = r.codebase_id
     WHERE n.name LIKE '%:' || :pid AND r.service = 'analysis' AND c.name = 'ms500' AND e.at > clock_timestamp() - interval '0.4 s'"""
MESSAGES = "SELECT 1 FROM kombu_message LIMIT 1"
LEFT = """
    SELECT 'reservation' AS what, job_id::text FROM quota_reservations
     UNION ALL SELECT 'slot', job_id::text FROM execution_slots UNION ALL SELECT 'message', task_id FROM kombu_message"""
FIGURES = """
    SELECT (SELECT count(*) FROM fire_commits) AS commits, (SELECT max(live) FROM fire_commits) AS live_at_most,
           (SELECT count(*) FROM fire_commits WHERE how = 'revived') AS revived,
           (SELECT count(*) FROM fire_commits WHERE live = tier_limit) AS at_the_limit,
           (SELECT count(*) FROM fire_writes) AS writes,
           (SELECT count(*) FROM job_events WHERE event = 'started') AS starts,
           (SELECT count(*) FROM job_events WHERE event = 'snoozed') AS snoozed,
           (SELECT count(*) FROM job_events WHERE event = 'woken') AS woken,
           (SELECT count(*) FROM job_records WHERE status = 'completed') AS completed,
           (SELECT count(*) FROM job_records WHERE status = 'failed') AS failed,
           (SELECT count(*) FROM usage_events) AS billed"""
#: Of each service; two jobs that write the same sentence at once pay for it together, and once.
OF_SERVICES = """
    SELECT s.service, (SELECT count(*) FROM fire_commits c WHERE c.service = s.service) AS commits,
           (SELECT count(*) FROM fire_commits c WHERE c.service = s.service AND c.live = c.tier_limit) AS at_the_limit,
           (SELECT coalesce(sum(r.units), 0) FROM job_records r
             WHERE r.service = s.service AND r.status = 'completed') AS due,
           (SELECT coalesce(sum(u.quota_amount), 0) FROM usage_events u
             WHERE u.event_type = CAST(s.service AS usage_event_type)) AS billed
      FROM (VALUES ('analysis'), ('specview')) AS s(service)"""
ENDED = """
    SELECT count(*) AS jobs, count(a.id) FILTER (WHERE a.status IN ('completed', 'failed')) AS ended
      FROM analysis_requests r LEFT JOIN job_records a ON a.id = r.job_id"""
FAILURES = """
    SELECT error_code, count(*) AS jobs FROM (
           SELECT status, error_code FROM analyses UNION ALL SELECT status, error_code FROM spec_documents) f
     WHERE status = 'failed' GROUP BY 1"""
STARTED = "SELECT count(*) FROM job_events WHERE event = 'started'"
#: A client may stop for longer than the machine is busy.
PATIENT = {"FIRE_IDLE": "55s"}


@pytest.fixture
def watched(system: System) -> System:
    """With unlimited quota, and every commit judged."""
    with system.world.uow.begin() as tx:
        tx.run(text("UPDATE subscription_plans SET analyses_per_period = NULL, spec_units_per_period = NULL"))
    fire_checks.install(system.world)
    return system


@pytest.mark.timeout(3 * SECONDS + 600)
def test_no_commit_leaves_more_live_slots_than_the_limit_whatever_dies_or_stands_still(watched: System) -> None:
    print(f"\nseed {SEED}")
    world = watched.world
    load = Load(world, [world.user(tier) for _ in range(USERS // len(Tier)) for tier in Tier], SEED, JOBS)
    with ExitStack() as stack:
        fire = Fire(watched.nodes, random.Random(SEED), NODES, PROCESSES, PAUSE, STOP, TIMES)
        stack.callback(fire.bury)
        wait_for(fire.ready, "the nodes")
        load.begin(SUBMITTERS)
        wait_for(lambda: load.jobs > 10 * NODES, "work")
        seconds = burn(fire, load)
        fire.cease()
        ceased = time.monotonic()
        load.stop()
        wait_for(lambda: is_over(fire, load), "every job to end", seconds=400)
        print(f"{seconds:.0f} s of fire, {time.monotonic() - ceased:.0f} s of drain")
    judge(world, fire, load, load.last_leak - ceased)


def late(fire: Fire) -> int:
    """Deliveries that came back too late: refused by the fence, or given up as their heartbeat had stood still, too."""
    return fire.told("stale") + fire.told("heartbeat_silent")


def comes_back_late(fire: Fire, load: Load) -> bool:
    """Whether a node stood still for longer than its leases; until then one after the other is stopped at work."""
    fire.go_on()
    load.look()
    if not fire.frozen:
        fire.stop_at_work(lambda pid: load.world.rows(AT_WORK, pid=str(pid)))
    return late(fire) > 0


def burn(fire: Fire, load: Load) -> float:
    """First a node with work stands still for longer than its leases; then whatever chance brings.  -> seconds"""
    # chance might kill it while it stands still, and nobody would come back too late
    wait_for(lambda: comes_back_late(fire, load), "a node to come back too late", seconds=200)
    begun = time.monotonic()
    while time.monotonic() < begun + SECONDS and not load.is_over:
        fire.step()
        time.sleep(0.05)  # between two looks at what is due
    return time.monotonic() - begun


def is_over(fire: Fire, load: Load) -> bool:
    """Whether every job has ended; meanwhile goes on to look for leaked slots."""
    fire.mend()
    load.look()
    return not load.world.rows(MESSAGES)


def judge(world: World, fire: Fire, load: Load, leaked: float) -> None:
    """Print what was seen, then hold it against what must be.  leaked: seconds from the last fault to the last leak."""
    [seen], services, zombies = world.rows(FIGURES), world.rows(OF_SERVICES), late(fire)
    print(f"{load.jobs} jobs: {seen}, {world.rows(FAILURES)}")
    for service in services:
        print(service)
    print(f"faults: {dict(fire.done)}, {fire.stopped:.0f} s of stops, {fire.started - NODES} nodes started again")
    print(f"{zombies} deliveries came back too late, {fire.told('database_away')} were cut off or waited in vain")
    print(f"tier changes: {dict(load.moves)}; database away for {load.away} accepts or changes")
    print(f"leaked slots seen: {len(load.leaks)}, the longest for {load.longest_leak:.2f} s, ", end="")
    print(f"the last one {max(leaked, 0):.2f} s after the last fault")
    assert leaked < GONE_SECONDS
    assert (fire_checks.missed(world), world.rows(LEFT), broken(world)) == ({}, [], [])
    assert [finding for finding in audit(world.uow) if finding.status != HOLDS] == []
    assert [service["due"] for service in services] == [service["billed"] for service in services]
    assert world.rows(ENDED) == [{"jobs": load.jobs, "ended": load.jobs}]
    # a run in which none of it happened would show nothing
    happened = [seen[what] for what in ("writes", "snoozed", "woken")]
    happened += [service[what] for service in services for what in ("commits", "at_the_limit", "billed")]
    assert 0 not in [*happened, zombies, sum(load.moves.values()), fire.done["kill child"] + fire.done["kill node"]]


def test_a_start_that_ignores_the_limit_is_found(watched: System) -> None:
    start(watched.nodes, "node1", 2, {"FIRE_MISTAKE": "no limit"}).ready()
    user = watched.user(Tier.FREE)
    for _ in range(2):
        watched.world.submit(user, watched.world.wanted("slow"))
    wait_for(lambda: watched.world.value(STARTED) == 2, "both jobs to run")
    watched.go_on()
    wait_for(lambda: not watched.world.rows(MESSAGES), "both jobs to end")
    found = fire_checks.missed(watched.world)
    assert [(row["live"], row["tier_limit"]) for row in found.pop("above the limit")] == [(2, 1)]
    assert found == {}


@pytest.mark.parametrize(("mistake", "above"), [("no lock", [(2, 3, 1)]), ("none, but slow", [])])
def test_a_start_beside_a_change_of_the_tier_is_found_if_it_does_not_hold_the_user(
    watched: System, mistake: str, above: list[tuple[int, int, int]]
) -> None:
    world, user = watched.world, watched.user(Tier.PRO)
    start(watched.nodes, "node1", 2, {"FIRE_MISTAKE": mistake} | PATIENT).ready()
    world.submit(user, world.wanted("slow"))
    wait_for(lambda: world.value(STARTED) == 1, "the first job to run")
    with stalled_start(watched), ThreadPoolExecutor(1) as thread:
        world.submit(user, world.wanted("ms1"))
        wait_for(has_stalled(watched), "the second to have read the tier")
        changed = thread.submit(
            tiers.change_tier, world.uow, user, Tier.FREE, world.policy, actor="test", now=datetime.now(UTC)
        )
        wait_for(lambda: changed.done() or world.value(LOCK_WAITS), "the change to be made, or to wait for the start")
        watched.nodes.stall.unlink()
    changed.result()
    wait_for(lambda: world.value(STARTED) == 2, "the second job to run")
    watched.go_on()
    wait_for(lambda: not world.rows(MESSAGES), "both jobs to end")
    found = fire_checks.missed(world).get("above the limit", [])
    assert [(row["live"], row["slot_limit"], row["tier_limit"]) for row in found] == above
    assert world.value("SELECT max(live) FROM fire_commits") == 2


@pytest.mark.parametrize(("mistake", "kinds"), [("no fence", {"written without the lease"}), ("", set())])
def test_a_worker_that_writes_without_its_lease_is_found(watched: System, mistake: str, kinds: set[str]) -> None:
    world = watched.world
    # no heartbeat comes while the job runs: it would notice the loss, and the worker would write nothing
    node = start(watched.nodes, "node1", 1, {"FIRE_MISTAKE": mistake} | RARE_HEARTBEATS)
    node.ready()
    job = world.submit(watched.user(), world.wanted("slow"))
    wait_for(lambda: world.value(STARTED) == 1, "the job to run")
    world.lose(job)
    watched.go_on()
    wait_for(lambda: not world.rows(MESSAGES), "the job to end")
    assert fire_checks.missed(world).keys() == kinds
    assert ('"stale"' in node.logs()) == (not kinds)


def test_a_worker_that_stands_still_in_a_transaction_is_cut_off_before_others_give_up_on_its_user(
    watched: System, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, user = watched.world, watched.user()
    monkeypatch.setitem(connections.LIMITS, "lock_timeout", "10s")  # as the service has it
    engine = make_engine(watched.nodes.database_url, pool_size=1)
    other = replace(world, uow=UnitOfWork(engine, publishing()))
    node = start(watched.nodes, "node1", 1, {"FIRE_MISTAKE": "none, but slow"})
    node.ready()
    with stalled_start(watched):
        first = world.submit(user, world.wanted("ms1"))
        wait_for(has_stalled(watched), "a start that holds the user")
        [child] = node.children()
        child.suspend()
        second = other.submit(user, world.wanted("ms1"))
        engine.dispose()
        child.resume()
    for job in (first, second):
        watched.wait(job, "completed")
    assert fire_checks.missed(world) == {}


@contextmanager
def stalled_start(watched: System) -> Iterator[None]:
    """Jobs that start in the block stand still between reading the tier and taking the slot, if the worker is slow."""
    watched.nodes.stall.touch()
    try:
        yield
    finally:
        watched.nodes.stall.unlink(missing_ok=True)
        watched.nodes.stall.with_name("stalled").unlink(missing_ok=True)


def has_stalled(watched: System) -> Callable[[], bool]:
    """Whether one of them does."""
    return watched.nodes.stall.with_name("stalled").exists
