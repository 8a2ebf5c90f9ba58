"""Choose the generator of specifications by the settings; the web uses only its name and languages."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from decimal import Decimal
from uuid import UUID

from app.domain.model_calls import Limits
from app.domain.specification import BUILT_IN, LANGUAGES, Place, Specification, Subject
from app.services.specifications.model_gate import ModelGate
from app.settings import Settings
from app.specview.builtin import built_in
from app.specview.generator import Generator, Part, Phrased, Placed
from app.specview.model.prompts import PROMPTS_VERSION
from app.specview.model.tongues import TONGUES
from app.store.core.unit_of_work import UnitOfWork


@dataclass(frozen=True, slots=True)
class Net:
    """The built-in generator below a model; in a language that it does not write it falls back to English."""

    inner: Generator
    name: str = BUILT_IN

    def place(self, subjects: Sequence[Subject], known: Sequence[Place], language: str) -> Iterator[Placed]:
        """Delegates to the inner generator."""
        return self.inner.place(subjects, known, _known(language))

    def phrase(self, parts: Iterable[Part], language: str) -> Iterator[Phrased]:
        """Delegates to the inner generator."""
        return self.inner.phrase(parts, _known(language))

    def summarise(self, specification: Specification) -> Iterator[str]:  # noqa: ARG002 - the protocol's
        """Write no summary: the names of the domains may be in a language that it does not write."""
        return iter(())


def name_of(settings: Settings) -> str:
    """The name of the generator that `generator_of` makes."""
    return BUILT_IN if settings.llm_model is None else f"model {settings.llm_model}, prompts {PROMPTS_VERSION}"


def languages_of(settings: Settings) -> Mapping[str, str]:
    """The languages that it writes, by code."""
    return LANGUAGES if settings.llm_model is None else {code: tongue.name for code, tongue in TONGUES.items()}


def generator_of(settings: Settings, uow: UnitOfWork, user_id: UUID | None) -> Generator:
    """The generator for one specification.

    uow: where the limits of all processes are counted; user_id: whose share of the day it uses, None for a job that is
    nobody's.
    """
    if settings.llm_base_url is None or settings.llm_model is None:
        return built_in()
    # the HTTP client takes 40 MB, which neither the web nor a worker of analyses needs
    from app.specview.model.endpoint import EndpointAccess  # noqa: PLC0415
    from app.specview.model.generator import ModelGenerator  # noqa: PLC0415

    access = EndpointAccess(
        settings.llm_base_url,
        settings.llm_model,
        settings.llm_api_key,
        settings.llm_timeout.total_seconds(),
        settings.llm_parallel,
    )
    gate = ModelGate(uow, f"{settings.llm_base_url} {settings.llm_model}", limits_of(settings), user_id)
    return ModelGenerator(access, gate, Net(built_in()), settings.llm_tokens_per_spec)


def limits_of(settings: Settings) -> Limits:
    """The limits of all processes together; a probe is given up once its call must have ended."""
    free = Decimal(0)
    return Limits(
        requests_per_minute=settings.llm_requests_per_minute,
        tokens_per_day=settings.llm_tokens_per_day,
        cost_per_day=settings.llm_cost_per_day,
        share=settings.llm_share_per_account,
        input_price=settings.llm_input_price or free,
        output_price=settings.llm_output_price or free,
        probe=settings.llm_timeout + timedelta(seconds=30),
    )


def _known(language: str) -> str:
    return language if language in LANGUAGES else "en"
