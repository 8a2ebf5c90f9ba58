"""Of the day of the models, an account uses its share at most, whatever it does and however many calls it makes at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from decimal import Decimal
from threading import Barrier
from uuid import UUID, uuid4

import pytest
from durable_harness.waiting import wait_for
from sqlalchemy import text

from app.domain.model_calls import Cap, Entered, Limits, Refused, Tokens
from app.services.accounts.forget import forget
from app.services.specifications.model_gate import ModelGate
from app.store.specifications import model_calls
from tests.conftest import World
from tests.databases import LOCK_WAITS

ASKED = Tokens(800, 200)
DAY = 40 * ASKED.total
THREADS = 8
USED_UP = Refused(Cap.SHARE_OF_DAY)
MakeGate = Callable[..., ModelGate]


@pytest.fixture
def make_gate(world: World) -> MakeGate:
    def make(user_id: UUID | None, **limits: object) -> ModelGate:
        given = {"requests_per_minute": 1_000_000, "tokens_per_day": DAY, "share": Decimal("0.25")} | limits
        return ModelGate(world.uow, "shared", Limits(**given), user_id)

    return make


def calls(gate: ModelGate, tries: int = 50) -> int:
    """How many calls it lets through."""
    return sum(isinstance(gate.enter(ASKED), Entered) for _ in range(tries))


def used(world: World, user_id: UUID) -> object:
    return world.value("SELECT max(tokens) FROM model_shares WHERE user_id = :id", id=user_id)


def yesterday(world: World) -> None:
    with world.uow.begin() as tx:
        for table in ("model_days", "model_shares"):
            tx.run(text(f"UPDATE {table} SET day = day - 1"))


def test_a_call_that_saw_the_day_before_counts_for_the_next_one_if_that_has_begun(
    world: World, make_gate: MakeGate
) -> None:
    ann, *_ = [world.user() for _ in range(6)]
    assert calls(make_gate(ann), 8) == 8
    with world.uow.begin() as tx:
        tx.run(text("UPDATE model_shares SET day = day + 1"))
    assert calls(make_gate(ann)) == 2
    assert used(world, ann) == 10 * ASKED.total


def test_an_account_that_has_used_its_share_is_refused_and_others_go_on(world: World, make_gate: MakeGate) -> None:
    ann, bob, *_ = [world.user() for _ in range(6)]
    assert calls(make_gate(ann)) == 10
    assert make_gate(ann).enter(ASKED) == USED_UP
    assert make_gate(ann).enter(Tokens(1, 0)) == USED_UP
    assert calls(make_gate(bob)) == 10


@pytest.mark.parametrize(("accounts", "allowed"), [(1, 40), (2, 20), (3, 13), (4, 10), (7, 10)])
def test_a_few_accounts_have_equal_parts_of_the_whole(
    world: World, make_gate: MakeGate, accounts: int, allowed: int
) -> None:
    first, *_ = [world.user() for _ in range(accounts)]
    with world.uow.begin() as tx:  # visitors, who get no specifications, take nothing from anybody
        tx.run(text("INSERT INTO users (id, kind, created_at) VALUES (:id, 'anonymous', now())"), id=uuid4())
    assert calls(make_gate(first)) == allowed


def test_the_share_is_one_of_the_cost_as_well(world: World, make_gate: MakeGate) -> None:
    ann, *_ = [world.user() for _ in range(4)]
    prices = {"input_price": Decimal(1000), "output_price": Decimal(1000)}
    gate = make_gate(ann, tokens_per_day=None, cost_per_day=Decimal(20), **prices)
    assert calls(gate) == 5
    assert gate.enter(ASKED) == USED_UP
    assert calls(make_gate(ann, tokens_per_day=None)) == 50


def test_calls_of_nobody_are_bound_by_the_limits_of_all_only(world: World, make_gate: MakeGate) -> None:
    ann, *_ = [world.user() for _ in range(4)]
    assert calls(make_gate(None)) == 40
    assert make_gate(ann).enter(ASKED) == Refused(Cap.TOKENS_PER_DAY)
    assert used(world, ann) is None


def test_the_share_counts_estimates_first_and_then_what_was_used(world: World, make_gate: MakeGate) -> None:
    ann, *_ = [world.user() for _ in range(4)]
    gate = make_gate(ann)
    first, second, third, fourth = (gate.enter(ASKED) for _ in range(4))
    assert used(world, ann) == 4 * ASKED.total
    gate.succeeded(first, Tokens(500, 10))
    gate.failed(second, ASKED)
    gate.held_back(third, 0)
    gate.abandoned(fourth)
    assert used(world, ann) == 510 + 2 * ASKED.total


def test_what_the_limits_of_all_refuse_takes_nothing_from_the_share(world: World, make_gate: MakeGate) -> None:
    ann, bob = world.user(), world.user()
    calls(make_gate(None), tries=39)
    assert calls(make_gate(ann)) == 1
    assert make_gate(bob, requests_per_minute=1).enter(ASKED) == Refused(Cap.TOKENS_PER_DAY)
    assert (used(world, ann), used(world, bob)) == (ASKED.total, None)


def test_on_the_next_day_the_share_is_whole_again(world: World, make_gate: MakeGate) -> None:
    ann, *_ = [world.user() for _ in range(4)]
    gate = make_gate(ann)
    late = gate.enter(ASKED)
    calls(gate)
    yesterday(world)
    assert calls(gate, tries=9) == 9
    gate.succeeded(Entered(world.value("SELECT max(day) - 1 FROM model_days"), ASKED), Tokens())  # type: ignore[arg-type]
    assert isinstance(late, Entered)
    assert calls(gate) == 1
    assert world.value("SELECT count(*) FROM model_shares") == 1


def test_a_share_goes_with_its_account_and_a_call_after_that_is_refused(world: World, make_gate: MakeGate) -> None:
    ann, bob = world.user(), world.user()
    gate = make_gate(ann)
    under_way = gate.enter(ASKED)
    assert isinstance(under_way, Entered)
    forget(world.uow, ann, actor="test", now=world.now)
    assert world.value("SELECT count(*) FROM model_shares") == 0
    gate.succeeded(under_way, ASKED)
    assert gate.enter(ASKED) == USED_UP
    with world.uow.begin() as tx:
        assert model_calls.spent(tx)[0] == ASKED  # what it has cost stays counted
    assert calls(make_gate(bob)) == 39  # as the only account


def test_of_two_accounts_at_once_neither_takes_from_the_share_of_the_other(world: World, make_gate: MakeGate) -> None:
    ann, bob, *_ = [world.user() for _ in range(4)]
    gates = [make_gate(ann)] * (THREADS - 1) + [make_gate(bob)]
    barrier = Barrier(THREADS)

    def work(gate: ModelGate) -> int:
        barrier.wait()
        found = 0
        for number in range(30):
            entered = gate.enter(ASKED)
            if isinstance(entered, Entered):
                found += 1
                if number % 2:  # ends lock what entering locks
                    gate.succeeded(entered, ASKED)
            else:
                assert entered == USED_UP
        return found

    with ThreadPoolExecutor(THREADS) as threads:
        *anns, bobs = threads.map(work, gates)
    assert (sum(anns), bobs) == (10, 10)
    assert (used(world, ann), used(world, bob)) == (10 * ASKED.total, 10 * ASKED.total)


def test_an_account_that_is_being_deleted_keeps_nobody_waiting(world: World, make_gate: MakeGate) -> None:
    ann, bob = world.user(), world.user()
    with ThreadPoolExecutor(1) as threads:
        with world.uow.begin() as tx:
            tx.run(text("SELECT FROM users WHERE id = :id FOR UPDATE"), id=ann)
            entering = threads.submit(make_gate(ann).enter, ASKED)
            wait_for(lambda: world.value(LOCK_WAITS), "the call to wait for the account")
            assert isinstance(make_gate(bob).enter(ASKED), Entered)
            assert not entering.done()
            tx.run(text("DELETE FROM users WHERE id = :id"), id=ann)
        assert entering.result(timeout=30) == USED_UP
