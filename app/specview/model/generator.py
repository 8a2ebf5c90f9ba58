"""The generator that asks a model: hostile names, failed parts and what is left out go to its fallback."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from itertools import islice

import structlog

from app.domain.specification import Place, Specification, Subject
from app.specview.generator import Generator, Part, Phrased, Placed
from app.specview.model.calls import Calls, Meter
from app.specview.model.chunks import by_file, by_part
from app.specview.model.classify import Places, classify
from app.specview.model.convert import PlacedSubject, convert
from app.specview.model.endpoint import Endpoint, EndpointAccess
from app.specview.model.faults import FAULTS, Fault
from app.specview.model.gate import Gate
from app.specview.model.hostile import looks_hostile, talks
from app.specview.model.parallel import as_done, event_loop
from app.specview.model.prompts import PROMPTS_VERSION, summarised
from app.specview.model.summarise import summarise
from app.specview.model.timing import Timing

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class ModelGenerator:
    """A Generator of one run.  most_tokens: of the run, None for no limit; meter: what it has taken so far.

    Calls continue in a separate thread while the caller stores a part; closing an iterator cancels them.
    """

    access: EndpointAccess
    gate: Gate
    fallback: Generator
    most_tokens: int | None = None
    timing: Timing = field(default_factory=Timing)
    meter: Meter = field(default_factory=Meter)

    @property
    def name(self) -> str:
        """The model and the version of what it is asked."""
        return f"model {self.access.model}, prompts {PROMPTS_VERSION}"

    def place(self, subjects: Sequence[Subject], known: Sequence[Place], language: str) -> Iterator[Placed]:
        """Chunks of files, the first one alone: its places are what the others go on with."""
        honest, hostile = _parted(subjects)
        places = Places(known)
        yield from self._place_without(hostile, places, language)
        chunks = by_file(honest)
        with self._calls() as (loop, calls):
            for some in (islice(chunks, 1), chunks):
                work = partial(classify, calls, known=places.all(), language=language)
                for found in as_done(loop, work, some, ahead=self._ahead):
                    if found is None:
                        yield Placed(())
                        continue
                    _, (rows, left) = found
                    if rows:
                        yield Placed([(subject, places.same(place)) for subject, place in rows])
                    yield from self._place_without(left, places, language)

    def phrase(self, parts: Iterable[Part], language: str) -> Iterator[Phrased]:
        """Chunks of parts, whole ones where they fit."""
        hostile = list[PlacedSubject]()
        with self._calls() as (loop, calls):
            chunks = by_part(_honest(parts, hostile))
            work = partial(convert, calls, language=language)
            for found in as_done(loop, work, chunks, ahead=self._ahead):
                if found is None:
                    yield Phrased(())
                    continue
                _, (done, left) = found
                if done:
                    yield Phrased(done)
                yield from self._phrase_without([*left, *hostile], language)
                hostile.clear()
        yield from self._phrase_without(hostile, language)

    def summarise(self, specification: Specification) -> Iterator[str]:
        """Summarise a specification from the names of domains and features alone."""
        domains = [
            (domain, [feature for feature in features if not talks(feature)])
            for domain, features in summarised(specification)
            if not talks(domain)
        ]
        if not domains:
            return
        with self._calls() as (loop, calls):
            work = partial(summarise, calls, language=specification.language)
            for found in as_done(loop, work, [domains], ahead=1):
                yield "" if found is None else found[1]

    @property
    def _ahead(self) -> int:
        """Chunks under way: some wait, so that a connection is never idle while the caller keeps a part."""
        return 2 * self.access.parallel

    @contextmanager
    def _calls(self) -> Iterator[tuple[asyncio.AbstractEventLoop, Calls]]:
        endpoint, before = Endpoint(self.access), self.meter.troubles.copy()
        # one thread asks the gate, so that a run takes one connection of the database for it
        with ThreadPoolExecutor(1, "model gate") as keeper, event_loop(endpoint.close) as loop:
            calls = Calls(
                endpoint, self.gate, keeper, self.meter, self.timing, parallel=self.access.parallel,
                most_tokens=self.most_tokens,
            )  # fmt: skip
            try:
                yield loop, calls
            finally:
                self._tell(before)

    def _tell(self, before: Counter[Fault]) -> None:
        """Log what went wrong since then, for the operator: only the operator learns why parts fell back."""
        for fault, times in (self.meter.troubles - before).items():
            log.warning("model_trouble", fault=fault.value, times=times, detail=f"the language model {FAULTS[fault]}")
        if self.meter.given_up is not None:
            log.warning("model_given_up", fault=self.meter.given_up.value)

    def _place_without(self, subjects: Sequence[Subject], places: Places, language: str) -> Iterator[Placed]:
        if subjects:
            for placed in self.fallback.place(subjects, places.all(), language):
                yield Placed([(subject, places.same(place)) for subject, place in placed.places], fell_back=True)

    def _phrase_without(self, rows: Sequence[PlacedSubject], language: str) -> Iterator[Phrased]:
        parts = dict[Place, list[Subject]]()
        for place, subject in rows:
            parts.setdefault(place, []).append(subject)
        if parts:
            found = self.fallback.phrase([Part(place, some) for place, some in parts.items()], language)
            for phrased in found:
                yield Phrased(phrased.sentences, fell_back=True)


def _parted(subjects: Iterable[Subject]) -> tuple[list[Subject], list[Subject]]:
    honest, hostile = list[Subject](), list[Subject]()
    for subject in subjects:
        (hostile if looks_hostile(subject) else honest).append(subject)
    return honest, hostile


def _honest(parts: Iterable[Part], hostile: list[PlacedSubject]) -> Iterator[Part]:
    """Parts without the names that talk to the model, which are put aside."""
    for part in parts:
        honest, others = _parted(part.subjects)
        hostile += [(part.place, subject) for subject in others]
        if honest:
            yield Part(part.place, honest)
