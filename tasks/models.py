"""The generator of a process: the built-in one, or a language model with it as a net."""

from datetime import timedelta
from decimal import Decimal

from app.domain.model_calls import Limits
from app.services.generator import Generator
from app.services.model_gate import ModelGate
from app.settings import Settings
from app.store.unit_of_work import UnitOfWork
from tasks.specview.model.endpoint import Access
from tasks.specview.model.generator import ModelGenerator


def generator_of(settings: Settings, uow: UnitOfWork, fallback: Generator) -> Generator:
    """The generator of one run, as the settings say.  fallback: writes what the model does not, or everything."""
    if settings.llm_base_url is None or settings.llm_model is None:
        return fallback
    access = Access(
        settings.llm_base_url,
        settings.llm_model,
        settings.llm_api_key,
        settings.llm_timeout.total_seconds(),
        settings.llm_parallel,
    )
    gate = ModelGate(uow, f"{settings.llm_base_url} {settings.llm_model}", limits_of(settings))
    return ModelGenerator(access, gate, fallback, most_tokens=settings.llm_tokens_per_spec)


def limits_of(settings: Settings) -> Limits:
    """What all processes may ask of the model together.  A probe is given up when its call has surely ended."""
    return Limits(
        requests_per_minute=settings.llm_requests_per_minute,
        tokens_per_day=settings.llm_tokens_per_day,
        cost_per_day=settings.llm_cost_per_day,
        input_price=settings.llm_input_price or Decimal(0),
        output_price=settings.llm_output_price or Decimal(0),
        probe=settings.llm_timeout + timedelta(seconds=30),
    )
