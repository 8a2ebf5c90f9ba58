"""The maximum price of a specification: tests whose sentence no document has paid for (docs/adr/0047)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from uuid import UUID

from app.domain.lifecycle import JobFailedError
from app.domain.specification import Mode, Shelf, fingerprint
from app.lru_cache import LruCache, held_bytes
from app.services.policy import Policy
from app.services.specifications.load_tests import GONE, load_tests
from app.store.analyses import analyses
from app.store.core.unit_of_work import UnitOfWork
from app.store.repositories import codebases
from app.store.specifications import spec_words

#: Size of one identity, in bytes.
SIZE = 32
MOST_REMEMBERED = 32_000_000  # bytes: the identities of a million tests


@dataclass(frozen=True, slots=True)
class Priced:
    """The facts of a completed analysis from which a price is calculated.

    total: tests; subtests: which are no part of them; identities: of the different ones of both, concatenated;
    is_private: whether the repository is private.
    """

    codebase_id: UUID
    is_private: bool
    total: int
    subtests: int
    identities: bytes

    def units(self, uow: UnitOfWork, user_id: UUID, language: str, mode: Mode, policy: Policy) -> int:
        """The maximum; equal tests count once.

        Nothing is locked: a paid sentence stays paid, so the price can only fall.
        """
        if mode.by(policy.generator) is Mode.REGENERATE_FRESH:
            return len(self.identities) // SIZE
        shelf = self._shelf(user_id, language, policy)
        keys = sorted(shelf.key_of("sentence", identity) for identity in self.each())
        with uow.begin() as tx:
            return spec_words.unpaid(tx, keys)

    def says(self, uow: UnitOfWork, user_id: UUID, language: str, policy: Policy) -> bytes | None:
        """The fingerprint of a document from the stored words; None if some words are missing."""
        shelf = self._shelf(user_id, language, policy)
        placed = {shelf.key_of("place", identity): identity for identity in self.each()}
        with uow.begin() as tx:
            places = spec_words.places(tx, sorted(placed))
        if len(places) < len(placed):
            return None
        written = {shelf.key_of("sentence", identity): identity for identity in self.each()}
        with uow.begin() as tx:
            sentences = spec_words.sentences(tx, sorted(written))
        if len(sentences) < len(written):
            return None
        return fingerprint(
            {placed[key]: place.folded() for key, place in places.items()},
            {written[key]: sentence for key, sentence in sentences.items()},
        )

    def _shelf(self, user_id: UUID, language: str, policy: Policy) -> Shelf:
        return Shelf(self.codebase_id, user_id if self.is_private else None, policy.generator, language)

    def each(self) -> Iterator[bytes]:
        """The identities, one by one."""
        return (self.identities[begin : begin + SIZE] for begin in range(0, len(self.identities), SIZE))


#: Numbers of tests and of subtests, and identities of an analysis, in this process: reading 28,000 tests takes a
#: second, and a user who decides asks several times.
_remembered: LruCache[UUID, tuple[int, int, bytes]] = LruCache(MOST_REMEMBERED, held_bytes)


def priced(uow: UnitOfWork, analysis_id: UUID) -> Priced:
    """Read the tests of a completed analysis, once per process.  Raises: JobFailedError analysis_gone."""
    with uow.begin() as tx:
        record = analyses.find(tx, analysis_id)
        codebase = record and codebases.get(tx, record.codebase_id)
    if record is None or codebase is None:
        raise JobFailedError(GONE)
    found = _remembered.get(analysis_id)
    if found is None:
        subjects = load_tests(uow, analysis_id).subjects
        subtests = sum(one.kind == "subtest" for one in subjects)
        found = (len(subjects) - subtests, subtests, b"".join(sorted({one.identity for one in subjects})))
        _remembered.keep(analysis_id, found)
    return Priced(codebase.codebase_id, codebase.is_private, *found)
