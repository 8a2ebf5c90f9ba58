"""Write one specification: group its tests, find a sentence for each, and finish the job (docs/adr/0047)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from types import GeneratorType
from typing import TypeVar
from uuid import UUID

from app.domain.jobs import Checkpoint
from app.domain.lifecycle import Delivery, Failure, JobFailedError, Outcome
from app.domain.specification import (
    BUILT_IN,
    UNGROUPED,
    Behaviour,
    Domain,
    Feature,
    Mode,
    Place,
    Shelf,
    Specification,
    Subject,
    fingerprint,
)
from app.services.policy import Policy
from app.services.specifications.finish import WholeDocument, finish
from app.services.specifications.load_tests import GONE, load_tests
from app.specview.generator import Generator, Part, Phrased, Placed
from app.store.core.unit_of_work import Tx, UnitOfWork, retried
from app.store.jobs import quota
from app.store.specifications import spec_documents, spec_words
from app.store.specifications.spec_documents import FeatureRow, SpecRequestRow
from app.store.specifications.spec_words import KeptSentence

T = TypeVar("T")
#: Kind of the stored words.
KINDS = ("place", "sentence")
CHANGED = Failure(
    "changed_meanwhile",
    "While the job waited, the generator or the repository's visibility changed, and it would cost more than it has"
    " reserved; ask again.",
)


@dataclass(frozen=True, slots=True)
class _Desk:
    """The state that the phases of one job share."""

    uow: UnitOfWork
    shelf: Shelf
    checkpoint: Checkpoint

    def places(self, subjects: Iterable[Subject]) -> dict[bytes, Place]:
        """Stored places of these tests, by identity."""
        return self._known("place", spec_words.places, subjects)

    def sentences(self, subjects: Iterable[Subject]) -> dict[bytes, KeptSentence]:
        """Stored sentences of these tests, by identity."""
        return self._known("sentence", spec_words.sentences, subjects)

    def _known(
        self, kind: str, read: Callable[[Tx, Sequence[bytes]], dict[bytes, T]], subjects: Iterable[Subject]
    ) -> dict[bytes, T]:
        by_key = {self.shelf.key(kind, subject): subject.identity for subject in subjects}
        with self.uow.begin() as tx:
            found = read(tx, sorted(by_key))
        return {by_key[key]: words for key, words in found.items()}

    def keep(
        self, kind: str, words: Sequence[tuple[Subject, object]], part: Placed | Phrased, *, is_paid: bool
    ) -> None:
        """Store a part at once, so that another attempt finds it; not one for which the model is to be asked again."""
        found = {self.shelf.key(kind, subject): one for subject, one in words}
        if found and (part.for_good or not part.fell_back):
            _keep(self.uow, self.shelf, found, is_paid=is_paid, is_fallback=part.fell_back)


@dataclass(slots=True)
class _Sentences:
    """The sentences of a document, by identity of their tests.

    fell_back: tests whose sentences the built-in generator wrote; is_whole: False if the model is to be asked again.
    """

    texts: dict[bytes, str]
    fell_back: set[bytes]
    is_whole: bool = True


def specify(
    uow: UnitOfWork,
    delivery: Delivery,
    user_id: UUID,
    generator: Generator,
    policy: Policy,
    *,
    checkpoint: Checkpoint,
    now: datetime | None = None,
) -> Outcome:
    """Write the document and finish the job.  now: None = by the database.  Raises: JobFailedError."""
    with uow.begin() as tx:
        request = spec_documents.requested(tx, delivery.job_id)
    if request is None:
        raise JobFailedError(GONE)
    written = _write(uow, delivery, user_id, request, generator, policy, checkpoint)
    checkpoint("saving", 0, 0)
    _save(uow, delivery, written.specification)
    return finish(uow, delivery, user_id, written, now=now)


def _write(
    uow: UnitOfWork,
    delivery: Delivery,
    user_id: UUID,
    request: SpecRequestRow,
    generator: Generator,
    policy: Policy,
    checkpoint: Checkpoint,
) -> WholeDocument:
    tests = load_tests(uow, request.analysis_id)
    shelf = tests.shelf(user_id, request.language, policy)
    fresh = request.mode == Mode.REGENERATE_FRESH
    keys = {one.identity: shelf.key("sentence", one) for one in tests.subjects}
    _check_reserved(uow, delivery.job_id, sorted(keys.values()), policy, fresh=fresh)
    own = replace(shelf, fresh_for=user_id) if fresh else shelf
    desk = _Desk(uow, own, checkpoint)
    places = _place(desk, tests.subjects, generator)
    sentences = _phrase(desk, tests.subjects, places, generator)
    domains = _arrange(tests.subjects, places, sentences)
    whole = Specification(request.language, _summarise(replace(desk, shelf=shelf), domains, generator), domains)
    kept = sorted(key for identity, key in keys.items() if identity not in sentences.fell_back)
    moves = sorted({(own.key(kind, one), shelf.key(kind, one)) for one in tests.subjects for kind in KINDS})
    used = sorted({*kept, *(key for _, key in moves), shelf.summary_key(domains)})
    says = fingerprint(places, sentences.texts) if sentences.is_whole else None
    return WholeDocument(whole, kept, used, says, shelf, moves if fresh else None)


def _summarise(desk: _Desk, domains: Sequence[Domain], generator: Generator) -> str:
    """The summary; one that a model has written of the same places in this repository is kept, also a refused one."""
    shelf = desk.shelf
    if not domains:
        return ""
    key = shelf.summary_key(domains)
    with desk.uow.begin() as tx:
        kept = spec_words.sentences(tx, [key])
    if kept:
        return kept[key].text
    found: str | None = None
    for summary in generator.summarise(Specification(shelf.language, "", domains)):
        desk.checkpoint("summarising", 0, 0)
        found = summary
    if found is not None and shelf.generator != BUILT_IN:  # the built-in one depends on more: the largest places
        _keep(desk.uow, shelf, {key: found}, is_paid=True)
    return found or ""


def _check_reserved(uow: UnitOfWork, job_id: UUID, keys: Sequence[bytes], policy: Policy, *, fresh: bool) -> None:
    """Check the price before anything is written.  Raises: JobFailedError changed_meanwhile."""
    with uow.begin() as tx:
        due = len(keys) if fresh else spec_words.unpaid(tx, keys)
        if policy.quota_mode != "off" and due > quota.held(tx, job_id):
            raise JobFailedError(CHANGED)


def _place(desk: _Desk, subjects: Sequence[Subject], generator: Generator) -> dict[bytes, Place]:
    """The place of each test, by identity; stored places stay, whatever is added to them."""
    places = {identity: place.folded() for identity, place in desk.places(subjects).items()}
    missing = list({one.identity: one for one in subjects if one.identity not in places}.values())
    total, done = len(missing), 0
    desk.checkpoint("placing", done, total)
    known = [place for place, _ in Counter(places.values()).most_common()]
    with _stopped(generator.place(missing, known, desk.shelf.language) if missing else iter(())) as parts:
        for part in parts:
            words = [(one, [place.domain, place.feature]) for one, place in part.places]
            desk.keep("place", words, part, is_paid=True)
            places |= {one.identity: place.folded() for one, place in part.places}
            done += len(part.places)
            desk.checkpoint("placing", done, total)
    return places


def _phrase(desk: _Desk, subjects: Sequence[Subject], places: dict[bytes, Place], generator: Generator) -> _Sentences:
    """The sentence of each test."""
    kept = desk.sentences(subjects)
    found = _Sentences(
        {identity: sentence.text for identity, sentence in kept.items()},
        {identity for identity, sentence in kept.items() if sentence.is_fallback},
    )
    missing = {one.identity: one for one in subjects if one.identity not in kept}
    wanted: dict[Place, list[Subject]] = {}
    for identity, one in missing.items():
        wanted.setdefault(places[identity], []).append(one)
    total, done = len(missing), 0
    desk.checkpoint("phrasing", done, total)
    wanted_parts = [Part(place, some) for place, some in wanted.items()]
    with _stopped(generator.phrase(wanted_parts, desk.shelf.language) if wanted_parts else iter(())) as parts:
        for part in parts:
            desk.keep("sentence", part.sentences, part, is_paid=False)
            if part.fell_back:
                found.fell_back |= {one.identity for one, _ in part.sentences}
                found.is_whole &= part.for_good
            found.texts |= {one.identity: sentence for one, sentence in part.sentences}
            done += len(part.sentences)
            desk.checkpoint("phrasing", done, total)
    return found


@contextmanager
def _stopped(parts: Iterator[T]) -> Iterator[Iterator[T]]:
    """Stop the generator's work under way, however its reader leaves it."""
    try:
        yield parts
    finally:
        if isinstance(parts, GeneratorType):
            parts.close()


def _arrange(subjects: Sequence[Subject], places: dict[bytes, Place], sentences: _Sentences) -> list[Domain]:
    """Order by file; ungrouped tests come last."""
    domains: dict[str, dict[str, list[Behaviour]]] = {}
    for one in subjects:
        place = places[one.identity]
        behaviour = Behaviour(one, sentences.texts[one.identity], one.identity in sentences.fell_back)
        domains.setdefault(place.domain, {}).setdefault(place.feature, []).append(behaviour)

    def last(named: tuple[str, object]) -> bool:
        return named[0] == UNGROUPED

    return [
        Domain(name, [Feature(feature, found) for feature, found in sorted(features.items(), key=last)])
        for name, features in sorted(domains.items(), key=last)
    ]


@retried
def _keep(
    uow: UnitOfWork, shelf: Shelf, words: dict[bytes, object], *, is_paid: bool, is_fallback: bool = False
) -> None:
    with uow.begin() as tx:
        spec_words.keep(tx, shelf, words, is_paid=is_paid, is_fallback=is_fallback)


def _save(uow: UnitOfWork, delivery: Delivery, specification: Specification) -> None:
    """Store the features outside the finish commit, so that this locks the user's row only briefly."""
    first = 1
    for batch in spec_documents.batches(_rows(specification)):
        with uow.begin() as tx:
            spec_documents.store(tx, delivery.job_id, delivery.lease_token, first, batch)
        first += len(batch)


def _rows(specification: Specification) -> Iterator[FeatureRow]:
    for domain in specification.domains:
        for feature in domain.features:
            yield FeatureRow(domain.name, feature.name, feature.behaviours)
