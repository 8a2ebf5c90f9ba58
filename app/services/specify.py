"""Write one specification: group its tests, find a sentence for each, and end the job (docs/adr/0047)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from types import GeneratorType
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy import Row

from app.domain.lifecycle import Delivery, JobFailedError, Outcome
from app.domain.queues import Service
from app.domain.specification import (
    UNGROUPED,
    Behaviour,
    Domain,
    Feature,
    Mode,
    Place,
    Shelf,
    Specification,
    Subject,
)
from app.services import end, subjects
from app.services.generator import Generator, Part
from app.services.policy import Policy
from app.services.subjects import GONE
from app.store import events, messages, quota, spec_documents, spec_words
from app.store.spec_documents import FeatureRow
from app.store.unit_of_work import UnitOfWork, retried

T = TypeVar("T")
#: (phase, done, total); raises when the job should stop.
Checkpoint = Callable[[str, int, int], None]


@dataclass(frozen=True, slots=True)
class Written:
    """A whole document, not yet stored.  keys: of its sentences that are kept, each once."""

    specification: Specification
    keys: Sequence[bytes]


@dataclass(frozen=True, slots=True)
class _Desk:
    """What the phases of one job share.  made_by: whose kept words count, None for anybody's."""

    uow: UnitOfWork
    job_id: UUID
    shelf: Shelf
    made_by: UUID | None
    checkpoint: Checkpoint

    def known(self, kind: str, subjects: Iterable[Subject]) -> dict[bytes, Any]:
        """Kept words of these tests by identity."""
        by_key = {self.shelf.key(kind, subject): subject.identity for subject in subjects}
        with self.uow.begin() as tx:
            found = spec_words.known(tx, sorted(by_key), made_by=self.made_by)
        return {by_key[key]: words for key, words in found.items()}

    def keep(self, kind: str, words: Sequence[tuple[Subject, object]], *, is_paid: bool) -> None:
        """Keep a part at once: an attempt that is cut off finds it again."""
        found = {self.shelf.key(kind, subject): one for subject, one in words}
        if found:
            _keep(self.uow, self.shelf, found, made_by=self.job_id, is_paid=is_paid, anew=self.made_by is not None)


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
    """Write the document and end the job.  now: None = by the database.  Raises: JobFailedError."""
    with uow.begin() as tx:
        asked = spec_documents.asked(tx, delivery.job_id)
    if asked is None:
        raise JobFailedError(GONE)
    written = _write(uow, delivery, user_id, asked, generator, policy, checkpoint)
    checkpoint("saving", 0, 0)
    _save(uow, delivery, written.specification)
    return finish(uow, delivery, user_id, written, now=now)


def _write(
    uow: UnitOfWork,
    delivery: Delivery,
    user_id: UUID,
    asked: Row[Any],
    generator: Generator,
    policy: Policy,
    checkpoint: Checkpoint,
) -> Written:
    tests = subjects.read(uow, asked.analysis_id)
    shelf = tests.shelf(user_id, asked.language, policy)
    own = delivery.job_id if asked.mode == Mode.REGENERATE_FRESH else None
    desk = _Desk(uow, delivery.job_id, shelf, own, checkpoint)
    places = _place(desk, tests.subjects, generator)
    sentences, fell_back = _phrase(desk, tests.subjects, places, generator)
    domains = _arrange(tests.subjects, places, sentences, fell_back)
    summary = ""
    for told in generator.summarise(Specification(asked.language, "", domains)) if tests.subjects else ():
        checkpoint("summarising", 0, 0)
        summary = told
    kept = {subject.identity: shelf.key("sentence", subject) for subject in tests.subjects}
    keys = sorted(key for identity, key in kept.items() if identity not in fell_back)
    return Written(Specification(asked.language, summary, domains), keys)


def _place(desk: _Desk, subjects: Sequence[Subject], generator: Generator) -> dict[bytes, Place]:
    """Where each test stands, by identity: the kept places stay, whatever is added beside them."""
    kept = desk.known("place", subjects)
    places = {identity: Place(*words) for identity, words in kept.items()}
    missing = list({one.identity: one for one in subjects if one.identity not in places}.values())
    total, done = len(missing), 0
    desk.checkpoint("placing", done, total)
    known = [place for place, _ in Counter(places.values()).most_common()]
    with _stopped(generator.place(missing, known, desk.shelf.language) if missing else iter(())) as parts:
        for part in parts:
            if not part.fell_back:
                desk.keep("place", [(one, [place.domain, place.feature]) for one, place in part.places], is_paid=True)
            places |= {one.identity: place for one, place in part.places}
            done += len(part.places)
            desk.checkpoint("placing", done, total)
    return places


def _phrase(
    desk: _Desk, subjects: Sequence[Subject], places: dict[bytes, Place], generator: Generator
) -> tuple[dict[bytes, str], set[bytes]]:
    """The sentence of each test, by identity; and those that fell back."""
    sentences: dict[bytes, str] = desk.known("sentence", subjects)
    fell_back: set[bytes] = set()
    missing = {one.identity: one for one in subjects if one.identity not in sentences}
    wanted: dict[Place, list[Subject]] = {}
    for identity, one in missing.items():
        wanted.setdefault(places[identity], []).append(one)
    total, done = len(missing), 0
    desk.checkpoint("phrasing", done, total)
    asked = [Part(place, some) for place, some in wanted.items()]
    with _stopped(generator.phrase(asked, desk.shelf.language) if asked else iter(())) as parts:
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
    """End what a generator has under way however its reader leaves it."""
    try:
        yield parts
    finally:
        if isinstance(parts, GeneratorType):
            parts.close()


def _arrange(
    subjects: Sequence[Subject], places: dict[bytes, Place], sentences: dict[bytes, str], fell_back: set[bytes]
) -> list[Domain]:
    """In the order of the files; what is in no group comes last."""
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
def _keep(
    uow: UnitOfWork, shelf: Shelf, words: dict[bytes, object], *, made_by: UUID, is_paid: bool, anew: bool
) -> None:
    with uow.begin() as tx:
        spec_words.keep(tx, shelf, words, made_by=made_by, is_paid=is_paid, anew=anew)


def _save(uow: UnitOfWork, delivery: Delivery, specification: Specification) -> None:
    """Store the features outside the finish commit, so that it holds the user's row only briefly."""
    first = 1
    for batch in spec_documents.batches(_rows(specification)):
        with uow.begin() as tx:
            spec_documents.store(tx, delivery.job_id, delivery.lease_token, first, batch)
        first += len(batch)


def _rows(specification: Specification) -> Iterator[FeatureRow]:
    for domain in specification.domains:
        for feature in domain.features:
            yield FeatureRow(domain.name, feature.name, [_row(behaviour) for behaviour in feature.behaviours])


def _row(behaviour: Behaviour) -> dict[str, Any]:
    subject = behaviour.subject
    row: dict[str, Any] = {
        "sentence": behaviour.sentence,
        "status": subject.status,
        "file": subject.file,
        "line": subject.line,
        "framework": subject.framework,
        "suites": list(subject.suites),
        "name": subject.name,
    }
    return {**row, "fell_back": True} if behaviour.fell_back else row


@retried
def finish(
    uow: UnitOfWork, delivery: Delivery, user_id: UUID, written: Written, *, now: datetime | None = None
) -> Outcome:
    """End the job as completed, or change nothing when the lease is lost.

    Billed are sentences that no document has paid, at most what was reserved.  now: None = by the database.
    Locks: the users row, then the message.  Returns: COMPLETED, CANCELLED or STALE.
    """
    with uow.begin() as tx:
        held = end.hold(tx, delivery, user_id, now=now)
        if held is None:
            return Outcome.STALE
        now = held.now
        if held.cancelled or held.gone:
            return end.cancel(tx, delivery, Service.SPECVIEW, held, now=now)
        spec_words.use(tx, written.keys, now=now)
        cost = spec_words.pay(tx, written.keys, now=now)
        units = quota.bill(tx, delivery.job_id, cost=cost, now=now)
        summary = _summary(written.specification)
        draft = delivery.lease_token
        version = spec_documents.complete(tx, delivery.job_id, draft=draft, summary=summary, units=units, now=now)
        if version is None:
            raise RuntimeError("the record ended under our lease")
        spec_documents.drop_drafts(tx, delivery.job_id, but=draft)
        messages.delete(tx, delivery.job_id)
        end.leave(tx, delivery, Service.SPECVIEW, held, now=now)
        behaviours = summary["behaviours"]
        events.completed(tx, delivery.job_id, behaviours=behaviours, version=version, attempt=delivery.attempt)
        return Outcome.COMPLETED


def _summary(specification: Specification) -> dict[str, Any]:
    features = [feature for domain in specification.domains for feature in domain.features]
    behaviours = [behaviour for feature in features for behaviour in feature.behaviours]
    return {
        "text": specification.summary,
        "domains": len(specification.domains),
        "features": len(features),
        "behaviours": len(behaviours),
        "by_status": dict(sorted(Counter(one.subject.status for one in behaviours).items())),
        "fell_back": sum(one.fell_back for one in behaviours),
    }
