"""The generator, the gate in PostgreSQL and the settings together."""

from decimal import Decimal
from uuid import uuid4

import pytest
from service_harness import model_double as answers
from service_harness.model_double import ModelDouble
from service_harness.model_runs import Time, generator, part, phrased, placed, subjects
from sqlalchemy import text

from app.adapters.generators import generator_of, languages_of, limits_of, name_of
from app.domain.model_calls import Limits
from app.domain.specification import BUILT_IN, LANGUAGES
from app.services.specifications.model_gate import ModelGate
from app.settings import load
from app.specview.model.faults import Fault
from app.specview.model.generator import ModelGenerator
from app.store.accounts import users
from app.store.core.unit_of_work import UnitOfWork
from app.store.specifications import model_calls
from tests.tiers import few

TESTS = subjects(400)


def gate(uow: UnitOfWork, **limits: object) -> ModelGate:
    return ModelGate(uow, "double", Limits(**{"requests_per_minute": 1_000_000} | limits))


def today(uow: UnitOfWork):
    with uow.begin() as tx:
        return model_calls.spent(tx)


def test_settings_without_a_model_are_the_built_in_generator(uow: UnitOfWork) -> None:
    settings = load({})
    made = generator_of(settings, uow, None)
    assert (made.name, name_of(settings), languages_of(settings)) == (BUILT_IN, BUILT_IN, LANGUAGES)


def test_settings_with_a_model_are_a_generator_behind_the_shared_gate(uow: UnitOfWork) -> None:
    with ModelDouble.serving() as double:
        environ = {
            "LLM_BASE_URL": double.url, "LLM_MODEL": "small", "LLM_API_KEY": "sk-1", "LLM_TIMEOUT": "7s", "LLM_PARALLEL": "3",
            "LLM_TOKENS_PER_SPEC": "1000000", "LLM_TOKENS_PER_DAY": "2000000", "LLM_COST_PER_DAY": "9", "LLM_INPUT_PRICE": "1",
            "LLM_OUTPUT_PRICE": "2",
        }  # fmt: skip
        settings = load(environ)
        user_id = uuid4()
        with uow.begin() as tx:
            users.add(tx, user_id, email="ann@example.org", now=uow.now())
        made = generator_of(settings, uow, user_id)
        assert isinstance(made, ModelGenerator)
        assert made.name == name_of(settings)
        assert languages_of(settings).keys() > LANGUAGES.keys()
        assert (made.name, made.access.seconds, made.access.parallel) == ("model small, prompts 1", 7, 3)
        found = phrased(made.phrase([part(*TESTS)], "en"))
    assert not any(fell for _, fell in found.values())
    assert double.calls[0].headers["authorization"] == "Bearer sk-1"
    assert double.most_under_way <= 3
    tokens, cost = today(uow)
    assert tokens == made.meter.spent
    assert cost == limits_of(settings).cost(tokens) > 0
    assert limits_of(settings).probe > settings.llm_timeout
    assert limits_of(settings).share == Decimal("0.25")
    with uow.begin() as tx:
        assert tx.run(text("SELECT tokens FROM model_shares")).scalar_one() == tokens.total
        assert "sk-1" not in str(tx.run(text("SELECT * FROM model_circuits")).all())


def test_an_endpoint_that_fails_is_called_no_more_than_it_takes_to_know(uow: UnitOfWork) -> None:
    with ModelDouble.serving(answers.status(500)) as double:
        runs = [generator(double, gate=gate(uow), time=Time(), parallel=2) for _ in range(2)]
        for run in runs:
            found = phrased(run.phrase([part(*TESTS)], "en"))
            assert {fell for _, fell in found.values()} == {True}
            assert run.meter.given_up == Fault.OUTAGE
    assert 5 <= len(double.calls) <= 7


def test_an_endpoint_that_comes_back_is_probed_and_used(uow: UnitOfWork) -> None:
    later = text("UPDATE model_circuits SET opened_at = opened_at - make_interval(secs => :seconds)")

    def meanwhile(seconds: float) -> None:
        with uow.begin() as tx:
            tx.run(later, seconds=seconds)

    time = Time(meanwhile=meanwhile)
    with ModelDouble.serving(script=[answers.status(500)] * 5) as double:
        run = generator(double, gate=gate(uow), parallel=1, time=time)
        found = phrased(run.phrase([part(*TESTS)], "en"))
    assert 0 < sum(fell for _, fell in found.values()) <= 100
    assert run.meter.given_up is None
    assert any(50 < seconds < 70 for seconds in time.slept)


@pytest.mark.parametrize("behaviour", few(1, [answers.good, answers.garbage, answers.obeying, answers.status(500)]))
def test_whatever_is_answered_the_caps_of_the_day_hold(uow: UnitOfWork, behaviour) -> None:
    limits = {
        "tokens_per_day": 40_000,
        "cost_per_day": Decimal("0.05"),
        "input_price": Decimal(1),
        "output_price": Decimal(1),
    }
    with ModelDouble.serving(behaviour) as double:
        for _ in range(3):
            run = generator(double, gate=gate(uow, **limits))
            found = phrased(run.phrase([part(*TESTS)], "en"))
            assert set(found) == set(TESTS)
            assert set(placed(run.place(TESTS, [], "en"))) == set(TESTS)
    tokens, cost = today(uow)
    assert tokens.total <= 40_000
    assert cost <= Decimal("0.05")
