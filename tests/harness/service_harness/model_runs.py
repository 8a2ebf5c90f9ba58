"""Runs of the generator that asks a model, against the double."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pydantic import SecretStr

from app.domain.specification import Behaviour, Domain, Feature, Place, Specification, Subject
from app.specview.generator import Part, Phrased, Placed
from app.specview.model.endpoint import EndpointAccess
from app.specview.model.gate import Gate, OpenGate
from app.specview.model.generator import ModelGenerator
from app.specview.model.timing import Timing
from service_harness.model_double import ModelDouble

KEY = "sk-a-key-that-nobody-may-see-0123456789"


class PlainGenerator:
    """The fallback: one place for all, the name as the sentence."""

    name = "plain"

    def place(self, subjects: Sequence[Subject], known: Sequence[Place], language: str) -> Iterator[Placed]:
        yield Placed([(subject, Place("Plain", "")) for subject in subjects])

    def phrase(self, parts: Iterable[Part], language: str) -> Iterator[Phrased]:
        for part in parts:
            yield Phrased([(subject, f"plain {subject.name}") for subject in part.subjects])

    def summarise(self, specification: Specification) -> Iterator[str]:
        yield "plain"


@dataclass
class Time:
    """A clock that only sleeping moves."""

    now: float = 0
    slept: list[float] = field(default_factory=list)
    meanwhile: Callable[[float], None] = lambda _: None

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        self.meanwhile(seconds)
        await asyncio.sleep(0)

    @property
    def timing(self) -> Timing:
        return Timing(now=lambda: self.now, sleep=self.sleep, roll=lambda: 0.5)


def generator(
    double: ModelDouble | str, *, gate: Gate | None = None, seconds: float = 60, parallel: int = 4, time: Time | None = None,
    most_tokens: int | None = None, key: str | None = KEY,
) -> ModelGenerator:  # fmt: skip
    url = double if isinstance(double, str) else double.url
    access = EndpointAccess(url, "double", None if key is None else SecretStr(key), seconds, parallel)
    timing = (time or Time()).timing
    return ModelGenerator(access, gate or OpenGate(), PlainGenerator(), most_tokens=most_tokens, timing=timing)


def subject(name: str, *, file: str = "shop/cart/test_cart.py", suites: tuple[str, ...] = (), line: int = 1) -> Subject:
    return Subject(file, "pytest", suites, name, line, "active")


SHOP = Place("Shop", "Cart")
NOUNS = [
    "cart",
    "order",
    "invoice",
    "refund",
    "basket",
    "voucher",
    "address",
    "parcel",
    "stock",
    "price",
    "tax",
    "coupon",
    "wallet",
    "receipt",
]
VERBS = ["adds", "keeps", "sends", "shows", "counts", "prints", "stores", "checks", "sorts", "splits"]


def subjects(count: int, *, per_file: int = 20) -> list[Subject]:
    """Tests whose names differ in their words."""
    return [
        subject(
            f"test_{VERBS[n % len(VERBS)]}_{NOUNS[n % len(NOUNS)]}_{_letters(n)}",
            file=f"src/part{_letters(n // (per_file * 5))}/area/test_{_letters(n // per_file)}.py",
            line=n + 1,
        )
        for n in range(count)
    ]


def _letters(n: int) -> str:
    return chr(97 + n % 26) + (_letters(n // 26) if n >= 26 else "x")


def part(*tests: Subject, place: Place = SHOP) -> Part:
    return Part(place, tests)


def phrased(found: Iterable[Phrased]) -> dict[Subject, tuple[str, bool]]:
    """Sentence and fell_back by test, each of which must come once."""
    rows = [(one, said, phrased.fell_back) for phrased in found for one, said in phrased.sentences]
    assert len(rows) == len({one for one, _, _ in rows})
    return {one: (said, fell_back) for one, said, fell_back in rows}


def placed(found: Iterable[Placed]) -> dict[Subject, tuple[Place, bool]]:
    """As phrased."""
    rows = [(one, place, placed.fell_back) for placed in found for one, place in placed.places]
    assert len(rows) == len({one for one, _, _ in rows})
    return {one: (place, fell_back) for one, place, fell_back in rows}


def specification(*names: str, language: str = "en") -> Specification:
    behaviours = [Behaviour(subject("test_a"), "A.")]
    return Specification(language, "", [Domain(name, [Feature("Sells", behaviours)]) for name in names])


def last(told: Iterator[str]) -> str:
    """A summary at its end; nothing was told of it."""
    said = ""
    for said in told:  # noqa: B007 - the last one counts
        pass
    return said
