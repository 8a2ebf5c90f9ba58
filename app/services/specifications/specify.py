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
from app.specview.generator import Generator, Part
from app.store.core.unit_of_work import Tx, UnitOfWork, retried
from app.store.jobs import quota
from app.store.specifications import spec_documents, spec_words
from app.store.specifications.spec_documents import FeatureRow, SpecRequestRow

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

    def sentences(self, subjects: Iterable[Subject]) -> dict[bytes, str]:
        """Stored sentences of these tests, by identity."""
        return self._known("sentence", spec_words.sentences, subjects)

    def _known(
        self, kind: str, read: Callable[[Tx, Sequence[bytes]], dict[bytes, T]], subjects: Iterable[Subject]
    ) -> dict[bytes, T]:
        by_key = {self.shelf.key(kind, subject): subject.identity for subject in subjects}
        with self.uow.begin() as tx:
            found = read(tx, sorted(by_key))
        return {by_key[key]: words for key, words in found.items()}

    def keep(self, kind: str, words: Sequence[tuple[Subject, object]], *, is_paid: bool) -> None:
        """Store a part at once, so that another attempt finds it."""
        found = {self.shelf.key(kind, subject): one for subject, one in words}
        if found:
            _keep(self.uow, self.shelf, found, is_paid=is_paid)


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
    sentences, fell_back = _phrase(desk, tests.subjects, places, generator)
    domains = _arrange(tests.subjects, places, sentences, fell_back)
    whole = Specification(request.language, _summarise(replace(desk, shelf=shelf), domains, generator), domains)
    kept = sorted(key for identity, key in keys.items() if identity not in fell_back)
    moves = sorted({(own.key(kind, one), shelf.key(kind, one)) for one in tests.subjects for kind in KINDS})
    used = sorted({*kept, *(key for _, key in moves), shelf.summary_key(domains)})
    says = None if fell_back else fingerprint(places, sentences)
    return WholeDocument(whole, kept, used, says, shelf, moves if fresh else None)


def _summarise(desk: _Desk, domains: Sequence[Domain], generator: Generator) -> str:
    """The summary; one that a model has written of the same places in this repository is kept."""
    shelf, found = desk.shelf, ""
    if not domains:
        return found
    key = shelf.summary_key(domains)
    with desk.uow.begin() as tx:
        kept = spec_words.sentences(tx, [key])
    if kept:
        return kept[key]
    for summary in generator.summarise(Specification(shelf.language, "", domains)):
        desk.checkpoint("summarising", 0, 0)
        found = summary
    if found and shelf.generator != BUILT_IN:  # the built-in one names the largest places, so it depends on more
        _keep(desk.uow, shelf, {key: found}, is_paid=True)
    return found


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
            if not part.fell_back:
                desk.keep("place", [(one, [place.domain, place.feature]) for one, place in part.places], is_paid=True)
            places |= {one.identity: place.folded() for one, place in part.places}
            done += len(part.places)
            desk.checkpoint("placing", done, total)
    return places


def _phrase(
    desk: _Desk, subjects: Sequence[Subject], places: dict[bytes, Place], generator: Generator
) -> tuple[dict[bytes, str], set[bytes]]:
    """The sentence of each test, by identity; and the identities that fell back."""
    sentences = desk.sentences(subjects)
    fell_back: set[bytes] = set()
    missing = {one.identity: one for one in subjects if one.identity not in sentences}
    wanted: dict[Place, list[Subject]] = {}
    for identity, one in missing.items():
        wanted.setdefault(places[identity], []).append(one)
    total, done = len(missing), 0
    desk.checkpoint("phrasing", done, total)
    wanted_parts = [Part(place, some) for place, some in wanted.items()]
    with _stopped(generator.phrase(wanted_parts, desk.shelf.language) if wanted_parts else iter(())) as parts:
        for part in parts:
            if part.fell_back:
                fell_back |= {one.identity for one, _ in part.sentences}
            else:
                desk.keep("sentence", part.sentences, is_paid=False)
            sentences |= {one.identity: sentence for one, sentence in part.sentences}
            done += len(part.sentences)
            desk.checkpoint("phrasing", done, total)
    return sentences, fell_back


@contextmanager
def _stopped(parts: Iterator[T]) -> Iterator[Iterator[T]]:
    """Stop the generator's work under way, however its reader leaves it."""
    try:
        yield parts
    finally:
        if isinstance(parts, GeneratorType):
            parts.close()


def _arrange(
    subjects: Sequence[Subject], places: dict[bytes, Place], sentences: dict[bytes, str], fell_back: set[bytes]
) -> list[Domain]:
    """Order by file; ungrouped tests come last."""
    domains: dict[str, dict[str, list[Behaviour]]] = {}
    for one in subjects:
        place = places[one.identity]
        behaviour = Behaviour(one, sentences[one.identity], one.identity in fell_back)
        domains.setdefault(place.domain, {}).setdefault(place.feature, []).append(behaviour)

    def last(named: tuple[str, object]) -> bool:
        return named[0] == UNGROUPED

    return [
        Domain(name, [Feature(feature, found) for feature, found in sorted(features.items(), key=last)])
        for name, features in sorted(domains.items(), key=last)
    ]


@retried
def _keep(uow: UnitOfWork, shelf: Shelf, words: dict[bytes, object], *, is_paid: bool) -> None:
    with uow.begin() as tx:
        spec_words.keep(tx, shelf, words, is_paid=is_paid)


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
