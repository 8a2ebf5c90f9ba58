"""The gate before a model: its circuit and its caps, exact among all processes."""

import multiprocessing
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta
from decimal import Decimal
from threading import Barrier

import pytest
from durable_harness.waiting import PATIENCE_SECONDS
from sqlalchemy import text

from app.domain.model_calls import CallWait, Cap, Entered, Limits, Refused, Tokens
from app.services.specifications.model_gate import ModelGate
from app.store.core import connections
from app.store.core.connections import make_engine
from app.store.core.unit_of_work import UnitOfWork
from app.store.specifications import model_calls
from tests.databases import PATIENT

ASKED = Tokens(800, 200)
THREADS = 8
PASS = """
    UPDATE model_circuits SET opened_at = opened_at - :time, probing_until = probing_until - :time,
                              held_until = held_until - :time"""


@pytest.fixture
def make_gate(uow: UnitOfWork) -> Callable[..., ModelGate]:
    def make(endpoint: str = "https://models.example.org/v1 small", **limits: object) -> ModelGate:
        return ModelGate(uow, endpoint, Limits(**{"requests_per_minute": 1_000_000, "failures": 3} | limits))

    return make


def enter(gate: ModelGate) -> Entered:
    entered = gate.enter(ASKED)
    assert isinstance(entered, Entered)
    return entered


def fail(gate: ModelGate, times: int = 1) -> None:
    for _ in range(times):
        gate.failed(enter(gate), Tokens())


def let_pass(uow: UnitOfWork, seconds: float) -> None:
    with uow.begin() as tx:
        tx.run(text(PASS), time=timedelta(seconds=seconds))


def spent(uow: UnitOfWork) -> tuple[Tokens, Decimal]:
    with uow.begin() as tx:
        return model_calls.spent(tx)


def test_failures_in_a_row_open_the_circuit(make_gate) -> None:
    gate = make_gate()
    fail(gate, 3)
    answer = gate.enter(ASKED)
    assert isinstance(answer, CallWait)
    assert answer.outage
    assert 30 < answer.seconds <= 60


def test_a_success_between_failures_keeps_it_closed(make_gate) -> None:
    gate = make_gate()
    for _ in range(3):
        fail(gate, 2)
        gate.succeeded(enter(gate), ASKED)
    assert isinstance(gate.enter(ASKED), Entered)


def test_each_endpoint_has_a_circuit_of_its_own(make_gate) -> None:
    fail(make_gate(), 3)
    assert isinstance(make_gate("another").enter(ASKED), Entered)


def test_after_the_reset_time_one_call_probes_and_its_success_closes(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate()
    fail(gate, 3)
    let_pass(uow, 61)
    probe = enter(gate)
    assert probe.probe is not None
    assert isinstance(gate.enter(ASKED), CallWait)
    gate.succeeded(probe, ASKED)
    assert enter(gate).probe is None


def test_a_probe_that_fails_opens_it_for_another_reset_time(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate()
    fail(gate, 3)
    let_pass(uow, 61)
    gate.failed(enter(gate), Tokens())
    answer = gate.enter(ASKED)
    assert isinstance(answer, CallWait)
    assert 30 < answer.seconds <= 60


def test_late_answers_of_calls_from_before_do_not_move_an_open_circuit(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate()
    good, bad = enter(gate), enter(gate)
    fail(gate, 3)
    let_pass(uow, 30)
    gate.succeeded(good, ASKED)
    gate.failed(bad, Tokens())
    answer = gate.enter(ASKED)
    assert isinstance(answer, CallWait)
    assert 0 < answer.seconds <= 30


def test_a_probe_whose_process_died_is_replaced_and_says_nothing_any_more(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate(probe=timedelta(seconds=100))
    fail(gate, 3)
    let_pass(uow, 61)
    dead = enter(gate)
    let_pass(uow, 50)
    assert isinstance(gate.enter(ASKED), CallWait)
    let_pass(uow, 51)
    assert enter(gate).probe not in {None, dead.probe}
    gate.succeeded(dead, ASKED)
    assert isinstance(gate.enter(ASKED), CallWait)


@pytest.mark.parametrize("leave", ["abandoned", "held_back"])
def test_a_probe_without_a_verdict_lets_another_one_try(make_gate, uow: UnitOfWork, leave: str) -> None:
    gate = make_gate()
    fail(gate, 3)
    let_pass(uow, 61)
    probe = enter(gate)
    gate.abandoned(probe) if leave == "abandoned" else gate.held_back(probe, 0)
    assert enter(gate).probe is not None


def test_an_endpoint_that_asks_to_wait_is_left_alone_by_all_and_not_for_ever(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate()
    gate.held_back(enter(gate), 200)
    gate.held_back(Entered(enter_day(uow), ASKED), 50)
    answer = make_gate().enter(ASKED)
    assert isinstance(answer, CallWait)
    assert 150 < answer.seconds <= 200
    let_pass(uow, 201)
    gate.held_back(enter(gate), 1e6)
    answer = gate.enter(ASKED)
    assert isinstance(answer, CallWait)
    assert 250 < answer.seconds <= 300


def test_after_the_clock_went_back_by_an_hour_nothing_waits_for_it_to_catch_up(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate()
    gate.held_back(enter(gate), 20)
    let_pass(uow, -3_600)
    fail(gate, 3)
    let_pass(uow, -3_600)
    died = enter(gate)
    let_pass(uow, -3_600)
    assert enter(gate).probe not in {None, died.probe}


def enter_day(uow: UnitOfWork):
    with uow.begin() as tx:
        return tx.run(text("SELECT max(day) FROM model_days")).scalar_one()


def test_requests_per_minute_are_those_of_all(make_gate) -> None:
    gates = [make_gate(requests_per_minute=3) for _ in range(3)]
    assert all(isinstance(gate.enter(ASKED), Entered) for gate in gates)
    answer = gates[0].enter(ASKED)
    assert isinstance(answer, CallWait)
    assert not answer.outage
    assert 0 < answer.seconds <= 20


def test_what_waits_or_is_refused_counts_for_nothing(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate(requests_per_minute=1, tokens_per_day=1500)
    enter(gate)
    assert isinstance(gate.enter(Tokens(100, 0)), CallWait)
    assert gate.enter(ASKED) == Refused(Cap.TOKENS_PER_DAY)
    assert spent(uow)[0] == ASKED


def test_an_estimate_is_counted_first_and_corrected_after(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate(input_price=Decimal(2), output_price=Decimal(10))
    first, second, third, fourth = (enter(gate) for _ in range(4))
    assert spent(uow) == (Tokens(3200, 800), Decimal("0.0144"))
    gate.succeeded(first, Tokens(500, 10))
    gate.failed(second, ASKED)
    gate.held_back(third, 0)
    gate.abandoned(fourth)
    tokens = Tokens(500 + 800 + 800, 10 + 200 + 200)
    assert spent(uow) == (tokens, gate.limits.cost(tokens))


def test_the_first_call_of_a_day_may_be_too_large_by_itself(make_gate) -> None:
    assert make_gate(tokens_per_day=999).enter(ASKED) == Refused(Cap.TOKENS_PER_DAY)
    prices = {"input_price": Decimal(1000), "output_price": Decimal(1000)}
    assert make_gate(cost_per_day=Decimal("0.99"), **prices).enter(ASKED) == Refused(Cap.COST_PER_DAY)
    assert isinstance(make_gate(cost_per_day=Decimal(1), tokens_per_day=1000, **prices).enter(ASKED), Entered)


def test_yesterday_does_not_count(make_gate, uow: UnitOfWork) -> None:
    gate = make_gate(tokens_per_day=1000)
    late = enter(gate)
    with uow.begin() as tx:
        tx.run(text("UPDATE model_days SET day = day - 1"))
    enter(gate)
    gate.succeeded(Entered(late.day - timedelta(days=1), ASKED), Tokens())
    assert spent(uow)[0] == ASKED


def _calls(url: str, limits: Limits, tries: int, begin, entered) -> None:
    """In a process of its own: enter as often as it goes."""
    connections.LIMITS.update(PATIENT)  # as `patience` in the tests' own process
    engine = make_engine(url, pool_size=1)
    gate = ModelGate(UnitOfWork(engine), "shared", limits)
    begin.wait()
    passed = 0
    for _ in range(tries):
        answer = gate.enter(ASKED)
        passed += isinstance(answer, Entered)
        if isinstance(answer, Entered) and passed % 2:
            gate.succeeded(answer, Tokens(400, 100))
    entered.put(passed)
    engine.dispose()


def together(url: str, limits: Limits, *, tries: int = 30, processes: int = 4) -> list[int]:
    spawn = multiprocessing.get_context("spawn")
    begin, entered = spawn.Barrier(processes), spawn.Queue()
    running = [spawn.Process(target=_calls, args=(url, limits, tries, begin, entered)) for _ in range(processes)]
    for process in running:
        process.start()
    found = [entered.get(timeout=PATIENCE_SECONDS) for _ in running]
    for process in running:
        process.join(30)
        assert process.exitcode == 0
    return found


@pytest.mark.proof
def test_processes_that_call_at_once_never_pass_a_cap_together(uow: UnitOfWork, database_url: str) -> None:
    limits = Limits(requests_per_minute=1_000_000, tokens_per_day=20_300)
    passed = together(database_url, limits)
    tokens, _ = spent(uow)
    assert tokens.total <= 20_300
    assert 20_300 - tokens.total < ASKED.total
    settled = sum((one + 1) // 2 for one in passed)
    assert tokens.total == sum(passed) * ASKED.total - settled * 500


@pytest.mark.proof
def test_of_processes_that_come_to_an_open_circuit_one_call_probes(
    make_gate, uow: UnitOfWork, database_url: str
) -> None:
    gate = make_gate("shared")
    fail(gate, 3)
    let_pass(uow, 61)
    limits = Limits(requests_per_minute=1_000_000, failures=3, tokens_per_day=10_000_000)
    spawned = multiprocessing.get_context("spawn")
    begin, entered = spawned.Barrier(4), spawned.Queue()
    running = [spawned.Process(target=_probes, args=(database_url, limits, begin, entered)) for _ in range(4)]
    for process in running:
        process.start()
    assert sum(entered.get(timeout=PATIENCE_SECONDS) for _ in running) == 1
    for process in running:
        process.join(30)


def _probes(url: str, limits: Limits, begin, entered) -> None:
    connections.LIMITS.update(PATIENT)
    engine = make_engine(url, pool_size=1)
    gate = ModelGate(UnitOfWork(engine), "shared", limits)
    begin.wait()
    entered.put(sum(isinstance(gate.enter(ASKED), Entered) for _ in range(20)))
    engine.dispose()


def test_threads_that_fail_at_once_open_the_circuit_once_and_for_one_reset_time(make_gate) -> None:
    gate = make_gate(failures=5)
    entered = [enter(gate) for _ in range(THREADS)]
    barrier = Barrier(THREADS)

    def work(one: Entered) -> None:
        barrier.wait()
        gate.failed(one, Tokens())

    with ThreadPoolExecutor(THREADS) as threads:
        list(threads.map(work, entered))
    circuit, now = lock(gate)
    assert circuit.failures == 5
    assert circuit.opened_at is not None
    assert timedelta(0) <= now - circuit.opened_at < timedelta(seconds=30)


def lock(gate: ModelGate):
    with gate.uow.begin() as tx:
        return model_calls.lock(tx, gate.endpoint)
