"""Let the paid sentences of an account be found in a cell that knows their repository by another id.

Their keys are hashes, of the id of the repository among others, so they are worked out again from the tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from uuid import UUID

from app.domain.lifecycle import JobFailedError
from app.domain.specification import Shelf
from app.services.specifications.price import Priced, priced
from app.store.cells import contents, words
from app.store.cells.words import NewestDocumentRow
from app.store.core.unit_of_work import UnitOfWork

KINDS = ("place", "sentence")


def rename_words(source: UnitOfWork, target: UnitOfWork, user_id: UUID) -> None:
    """Rename what has come with an account; it may be repeated.  Words of tests that are no longer there stay unfound.

    Locks: those words.
    """
    with target.begin() as tx:
        repositories = words.codebases(tx, user_id)
        newest = words.newest(tx, user_id)
    with source.begin() as tx:
        before: dict[str, str] = json.loads(contents.known_as(tx, repositories))
    for document in newest:
        if str(document.codebase_id) in before:
            with suppress(JobFailedError):  # its analysis was pruned
                _rename(target, user_id, document, UUID(before[str(document.codebase_id)]))


def _rename(target: UnitOfWork, user_id: UUID, document: NewestDocumentRow, before: UUID) -> None:
    tests = priced(target, document.analysis_id)
    shelf = Shelf(document.codebase_id, user_id if tests.is_private else None, document.generator, document.language)
    keys = [*_keys(tests, replace(shelf, codebase_id=before), shelf)]
    for begin in range(0, len(keys), words.MOST):
        with target.begin() as tx:
            words.rename(tx, keys[begin : begin + words.MOST])


def _keys(tests: Priced, before: Shelf, after: Shelf) -> Iterator[tuple[bytes, bytes]]:
    for identity in tests.each():
        for kind in KINDS:
            yield before.key_of(kind, identity), after.key_of(kind, identity)
