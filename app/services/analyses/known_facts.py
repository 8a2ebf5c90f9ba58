"""What earlier analyses have found out: facts of blobs and the last inventory, as rows or in objects (docs/adr/0095).

All of it is a cache.  While the object store is away, an analysis goes on as if its objects were not known, and stores
rows instead.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from uuid import UUID

import structlog

from app.domain import fact_packs
from app.domain.fact_packs import WORTH_AN_OBJECT, FactsKey
from app.domain.inventories import Facts
from app.domain.objects import Kind, Objects, ObjectsAwayError, digest_of
from app.store.analyses import inventories, last_inventories, packed_facts, stored_objects
from app.store.analyses.last_inventories import LastInventory
from app.store.core.unit_of_work import UnitOfWork

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class KnownFacts:
    """Facts by blob, shared by all analyses of one parser version.

    objects: None if everything is in the database; last: the inventory of an earlier commit of the repository.
    """

    uow: UnitOfWork
    parser_version: str
    clock: Callable[[], datetime]
    objects: Objects | None = None
    last: LastInventory | None = None

    def load(self, keys: Sequence[FactsKey]) -> list[tuple[str, str, Facts]]:
        """Load the stored facts of blobs.  rows: blob_id, language, facts.

        Many facts that are rows are moved to an object: what one analysis needs, the next one of its repository needs
        together.
        """
        if self.objects is None:
            with self.uow.begin() as tx:
                rows = inventories.load_facts(tx, keys, self.parser_version)
            return [(row.blob_id, row.language, row.facts) for row in rows]
        with self.uow.begin() as tx:
            placed = packed_facts.find(tx, keys, self.parser_version)
        found: dict[FactsKey, Facts] = {(row.blob_id, row.language): row.facts for row in placed if row.digest is None}
        if len(found) >= WORTH_AN_OBJECT:
            self._store(found, are_rows=True)
        wanted: dict[bytes, set[FactsKey]] = {}
        for row in placed:
            if row.digest is not None and (row.blob_id, row.language) not in found:
                wanted.setdefault(bytes(row.digest), set()).add((row.blob_id, row.language))
        found |= self._read(wanted)
        return [(*key, facts) for key, facts in found.items()]

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        """Store new facts; existing ones stay."""
        if facts and not (len(facts) >= WORTH_AN_OBJECT and self._store(facts)):
            with self.uow.begin() as tx:
                inventories.store_facts(tx, facts, self.parser_version, now=self.clock())

    def keep_last(self, analysis_id: UUID, content: bytes) -> None:
        """Keep a packed inventory as the last one of its repository, unless it is too large."""
        if len(content) > last_inventories.MOST_BYTES:
            return
        is_large = len(content) >= last_inventories.WORTH_AN_OBJECT
        object_id = self._put(Kind.INVENTORY, content) if is_large else None
        with self.uow.begin() as tx:
            last_inventories.keep(tx, analysis_id, b"" if object_id else content, object_id=object_id)

    def _store(self, facts: Mapping[FactsKey, Facts], *, are_rows: bool = False) -> bool:
        if self.objects is None or not self.objects.answers():
            return False
        object_id = self._put(Kind.FACTS, fact_packs.packed(facts, self.parser_version))
        if object_id is None:
            return False
        with self.uow.begin() as tx:
            packed_facts.add(tx, facts.keys(), object_id)
            if are_rows:
                packed_facts.drop_rows(tx, facts.keys(), self.parser_version)
        return True

    def _put(self, kind: Kind, content: bytes) -> int | None:
        """Store an object that nothing refers to yet; None if there is no store, or it is away."""
        if self.objects is None or not self.objects.answers():
            return None
        with self.uow.begin() as tx:
            object_id = stored_objects.note(
                tx, digest_of(content), kind, self.parser_version, size=len(content), now=self.clock()
            )
        try:
            self.objects.put(content)
        except ObjectsAwayError:
            return None
        return object_id

    def _read(self, wanted: Mapping[bytes, Collection[FactsKey]]) -> dict[FactsKey, Facts]:
        contents = contents_of(self.uow, self.objects, wanted.keys())
        found: dict[FactsKey, Facts] = {}
        for digest, content in contents.items():
            found |= fact_packs.unpacked(content, wanted[digest])
        return found


def load_last(uow: UnitOfWork, objects: Objects | None, analysis_id: UUID, parser_version: str) -> LastInventory | None:
    """The last inventory of the repository of an analysis; None if there is none, or its object cannot be read."""
    with uow.begin() as tx:
        last = last_inventories.load(tx, analysis_id, parser_version)
    if last is None or last.content or last.object is None:
        return last
    content = contents_of(uow, objects, [last.object]).get(last.object)
    return None if content is None else last._replace(content=content)


def contents_of(uow: UnitOfWork, objects: Objects | None, digests: Collection[bytes]) -> Mapping[bytes, bytes]:
    """Contents by digest.  What lost objects had is forgotten; without a store that answers, nothing is known."""
    if objects is None or not digests:
        return {}
    try:
        contents = objects.get(digests)
    except ObjectsAwayError:
        return {}
    if lost := set(digests) - contents.keys():
        log.warning("objects_lost", digests=sorted(digest.hex() for digest in lost))
        with uow.begin() as tx:
            stored_objects.forget(tx, lost)
    return contents
