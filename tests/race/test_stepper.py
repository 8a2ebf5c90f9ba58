"""The stepper itself: how many orders there are is known, and a use case that is wrong is found out."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text

from app.domain.lifecycle import Outcome
from app.domain.plans import EventType
from app.domain.queues import Service
from app.errors import QuotaExceeded
from app.services.analyses.submit import submit
from app.store.accounts import users
from app.store.analyses import analyses
from app.store.core.unit_of_work import retried
from app.store.jobs import messages, quota
from tests.conftest import World
from tests.databases import LOCK_WAITS
from tests.race.conftest import Theatre
from tests.race.footprints import Catalogue
from tests.race.scenes import Scene
from tests.race.scenes_of_ends import two_starts_for_one_slot
from tests.race.stepping import Strand
from tests.services.busy import account

TOUCH = "UPDATE {0} SET n = n + 1 WHERE id = {1}"


def touching(*statements: str) -> Callable[[World], None]:
    """A use case of these statements in one transaction."""

    @retried
    def touch(world: World) -> None:
        with world.uow.begin() as tx:
            for statement in statements:
                tx.run(text(statement))

    return touch


def anything(*_: Any) -> None:
    """Any outcome will do."""


@pytest.fixture
def tables(world: World) -> World:
    with world.uow.begin() as tx:
        for name in ("left_side", "right_side"):
            tx.run(text(f"CREATE TABLE {name} AS SELECT id, 0 AS n FROM generate_series(1, 2) AS id"))
    return world


@pytest.fixture
def orders(tables: World, theatre: Theatre) -> Callable[..., tuple[int, int]]:
    """orders(use case, …, switches=) -> how many orders were run to their ends, and how many cut off as redundant."""

    def run(*actions: Callable[[World], None], switches: int | None) -> tuple[int, int]:
        search = theatre.every_order(lambda _: Scene(actions, anything), switches=switches)
        return search.orders, search.redundant

    return run


@pytest.mark.proof
def test_two_transactions_that_touch_nothing_in_common_have_six_orders_all_of_them_equal(orders) -> None:
    left, right = touching(TOUCH.format("left_side", 1)), touching(TOUCH.format("right_side", 1))
    assert orders(left, right, switches=9) == (6, 0)
    assert orders(left, right, switches=None)[0] == 1


def test_orders_with_at_most_one_switch_are_counted_right(orders) -> None:
    left, right = touching(TOUCH.format("left_side", 1)), touching(TOUCH.format("right_side", 1))
    assert orders(left, right, switches=0) == (2, 0)
    assert orders(left, right, switches=1) == (4, 0)


def test_who_waits_for_a_row_goes_on_when_it_is_free(tables: World, theatre: Theatre) -> None:
    same = touching(TOUCH.format("left_side", 1))
    ends: list[object] = []

    def note(*_: object) -> None:
        ends.append(tables.value("SELECT n FROM left_side WHERE id = 1"))

    search = theatre.every_order(lambda _: Scene((same, same), note), switches=9)
    # one whole before the other, or the second one's update sent before the first one's commit
    assert (search.orders, search.redundant) == (4, 0)
    assert ends == [2] * 4  # each from a fresh beginning


def test_each_order_begins_without_what_earlier_ones_left(theatre: Theatre) -> None:
    began: list[object] = []

    def fresh(world: World) -> Scene:
        began.append(world.rows("SELECT count(*) AS n FROM quota_reservations"))
        user = world.user(analyses=2)
        return Scene((lambda w: w.submit(user), touching("SELECT 1")), anything)

    assert theatre.every_order(fresh, switches=0).orders == 2
    assert began == [[{"n": 1}]] * 2


def test_who_waits_for_a_stranger_as_for_autovacuum_is_waited_for(tables: World, theatre: Theatre) -> None:
    stranger = tables.uow.engine.connect()
    stranger.execute(text("LOCK TABLE left_side"))

    def leave() -> None:
        wait_for(lambda: tables.value(LOCK_WAITS) == 1, "a strand to wait")
        stranger.close()

    seen: list[list[str]] = []

    def choose(standing: Mapping[str, Strand]) -> str:
        seen.append(sorted(standing))
        return min(standing)

    touch = touching(TOUCH.format("left_side", 1))
    with ThreadPoolExecutor(1) as beside:
        left = beside.submit(leave)
        theatre.stage.play([partial(touch, world) for world in theatre.worlds[:2]], choose)
        left.result()
    assert seen == [["a", "b"], ["a", "b"], ["b"], ["b"]]


@pytest.mark.proof
def test_three_strands_are_walked_too(orders) -> None:
    left, right = touching(TOUCH.format("left_side", 1)), touching(TOUCH.format("right_side", 1))
    assert orders(left, right, touching("SELECT 1"), switches=0) == (6, 0)
    assert orders(left, right, touching("SELECT 1"), switches=None)[0] == 1


@pytest.mark.proof
def test_a_circle_of_locks_is_met_and_its_victim_runs_again(tables: World, orders) -> None:
    there = touching(TOUCH.format("left_side", 1), TOUCH.format("left_side", 2))
    back = touching(TOUCH.format("left_side", 2), TOUCH.format("left_side", 1))
    orders(there, back, switches=1)
    assert tables.value("SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()") > 0
    assert tables.rows("SELECT DISTINCT n FROM left_side") == [{"n": 2}]


def copying(here: str, there: str) -> Callable[[World], int]:
    """A use case that reads one table and adds what it saw to the other; gives what it saw."""

    def copy(world: World) -> int:
        with world.uow.begin() as tx:
            saw = tx.run(text(f"SELECT n FROM {here} WHERE id = 1")).scalar_one()
            tx.run(text(f"UPDATE {there} SET n = n + {saw} + 1 WHERE id = 1"))
            tx.run(text(f"SELECT n FROM {there} WHERE id = 2 FOR UPDATE"))
            return saw

    return copy


@pytest.mark.proof
def test_the_reduced_search_meets_every_outcome_that_all_orders_together_meet(tables: World, theatre: Theatre) -> None:
    def outcomes(*copies: Callable[[World], int], switches: int | None) -> tuple[int, set[object]]:
        met: set[object] = set()

        def fresh(world: World) -> Scene:
            with world.uow.begin() as tx:
                tx.run(text("UPDATE left_side SET n = 0"))
                tx.run(text("UPDATE right_side SET n = 0"))
            left, right = (f"(SELECT n FROM {table} WHERE id = 1)" for table in ("left_side", "right_side"))
            return Scene(copies, lambda *saw: met.add((saw, world.value(f"SELECT ({left}, {right})::text"))))

        return theatre.every_order(fresh, switches=switches).orders, met

    crossed = copying("left_side", "right_side"), copying("right_side", "left_side")
    beside = copying("left_side", "right_side"), copying("left_side", "right_side")
    for pair in (crossed, beside):
        every, all_met = outcomes(*pair, switches=99)
        fewer, met = outcomes(*pair, switches=None)
        assert (met, len(met) > 1) == (all_met, pair == crossed)
        assert fewer < every


FENCE = "SELECT FROM broker_message m JOIN users u ON u.id::text = m.task_id WHERE m.task_id = '1' FOR UPDATE OF m"
PLACES = {"durable_message", "durable_ready", "durable_lease", "durable_waiting"}
STARTED = {"durable_message", "durable_lease"}


@pytest.mark.parametrize(
    ("statement", "reads", "locks"),
    [
        ("DELETE FROM broker_message WHERE id = 1", PLACES, PLACES),
        ("SELECT broker_delete('1')", PLACES, PLACES),
        ("SELECT broker_start('1', gen_random_uuid())", STARTED, STARTED),
        ("UPDATE broker_message SET started_at = now() WHERE id = 1", PLACES, PLACES),
        (FENCE, PLACES, {"durable_message"}),
        ("SELECT FROM users WHERE NOT EXISTS (SELECT FROM broker_message m)", PLACES, set()),
    ],
)
def test_a_statement_over_a_view_touches_what_its_tables_and_triggers_do(
    theatre: Theatre, statement: str, reads: set[str], locks: set[str]
) -> None:
    found = theatre.catalogue.footprint(statement, {}, frozenset())
    assert found.reads >= reads
    assert found.locks == locks


@pytest.mark.parametrize(
    ("statement", "reads", "locks", "shares"),
    [
        ("UPDATE users SET kind = 'person' WHERE id = $1", {"users"}, {"users"}, set()),  # not what a delete fires
        ("DELETE FROM idempotency_keys", {"idempotency_keys"}, {"idempotency_keys"}, set()),  # not the user
        ("SELECT FROM users WHERE id = $1 FOR KEY SHARE", {"users"}, set(), {"users"}),
        ("SELECT FROM users u, codebases c FOR SHARE OF c", {"users", "codebases"}, set(), {"codebases"}),
    ],
)
def test_a_statement_touches_no_more_than_its_act_needs(
    theatre: Theatre, statement: str, reads: set[str], locks: set[str], shares: set[str]
) -> None:
    found = theatre.catalogue.footprint(statement, {}, frozenset())
    assert (found.reads, found.locks, found.shares) == (reads, locks, shares)


def test_a_delete_of_a_user_fires_its_triggers_and_reaches_all_that_goes_with_it(theatre: Theatre) -> None:
    found = theatre.catalogue.footprint("DELETE FROM users WHERE id = $1", {}, frozenset())
    assert {"users", "sessions", "webhooks", "webhook_deliveries", "audit_log"} <= found.locks


def test_a_view_of_more_than_a_table_reads_all_that_is_below_it(theatre: Theatre) -> None:
    def read(view: str) -> frozenset[str]:
        return theatre.catalogue.footprint(f"SELECT FROM {view}", {}, frozenset()).reads

    assert {"analyses", "spec_documents"} <= read("job_records")
    assert {"durable_ready", "durable_waiting", "durable_lease", "kombu_dead_letter"} <= read("broker_facts")


def test_a_function_over_a_view_reads_what_is_below_it(theatre: Theatre) -> None:
    unstepped = Catalogue(theatre.catalogue._watcher, set())
    found = unstepped.footprint("SELECT accept_look()", {}, frozenset())
    assert {"durable_message", "users", "codebases"} <= found.reads


def checked_apart(world: World, user_id: Any) -> Any:
    """An accept whose check is another transaction than its reservation."""
    who = account(world, user_id)
    with world.uow.begin() as tx:
        users.lock(tx, user_id)
        used = quota.usage(tx, user_id, EventType.ANALYSIS, who.period(world.now), 2)
    if not used.admits(1):
        raise QuotaExceeded("spent", used=used.used, reserved=used.reserved, limit=2)
    shadow = world.with_policy(quota_mode="shadow")
    return submit(shadow.uow, user_id, shadow.wanted(), shadow.policy, now=world.now)


def apart(world: World) -> Scene:
    user = world.user(analyses=2)
    world.submit(user)
    return Scene((lambda w: checked_apart(w, user),) * 2, anything)


@pytest.mark.proof
@pytest.mark.parametrize("switches", [1, None], ids=["one switch", "whole"])
def test_a_check_apart_from_its_reservation_is_found_to_pass_the_limit(theatre: Theatre, switches: int | None) -> None:
    theatre.every_order(apart, switches=0)  # one after the other all is well
    with pytest.raises(AssertionError) as found:
        theatre.every_order(apart, switches=switches)
    assert "I1 more used and reserved than the limit" in str(found.value)
    assert "INSERT INTO quota_reservations" in found.value.__notes__[0]


def unlocked_finish(world: World, delivery: Any, user_id: Any) -> Outcome:
    """A finish that does not lock its user, and so may look for somebody to wake too early."""
    with world.uow.begin() as tx:
        assert messages.fence(tx, delivery, user_id) is not None
        analyses.complete(tx, delivery.job_id, total_tests=0, summary={"tests": 0}, now=world.now)
        messages.delete(tx, delivery.job_id)
        tx.run(text("DELETE FROM execution_slots WHERE job_id = :job_id"), job_id=delivery.job_id)
        messages.wake(tx, user_id, Service.ANALYSIS)
        quota.settle(tx, delivery.job_id, resource_id=delivery.job_id, now=world.now)
        return Outcome.COMPLETED


def unlocked(world: World) -> Scene:
    user = world.user(analyses=2)
    running, waiting = world.running(user), world.lease(world.submit(user))
    return Scene((lambda w: w.start(waiting, user), lambda w: unlocked_finish(w, running, user)), anything)


@pytest.mark.proof
@pytest.mark.parametrize("switches", [1, None], ids=["one switch", "whole"])
def test_a_finish_without_the_user_s_lock_is_found_to_lose_a_wake(theatre: Theatre, switches: int | None) -> None:
    theatre.every_order(unlocked, switches=0)
    with pytest.raises(AssertionError, match="I9 a snoozed job beside a free slot"):
        theatre.every_order(unlocked, switches=switches)


def test_it_says_now_and_then_how_far_it_is(
    theatre: Theatre, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("tests.race.search.SELDOM", 1)
    theatre.every_order(two_starts_for_one_slot, switches=None)
    shares = [float(line.split()[-2][:-1]) for line in capsys.readouterr().out.splitlines() if line.endswith("% done")]
    assert shares == sorted(shares)
    assert 0 < shares[0] < shares[-1] < 100
