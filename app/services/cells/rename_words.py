"""Let the paid sentences of an account be found in a cell that knows their repository by another id.

Their keys are hashes, of the id of the repository among others, so they are worked out again from the tests.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from uuid import UUID

from app.domain.lifecycle import JobFailedError
from app.domain.specification import Shelf
from app.services.specifications.price import Priced, priced
from app.store.cells import contents, words
from app.store.core.unit_of_work import UnitOfWork

KINDS = ("place", "sentence")
#: (where words are, where they go).
Renames = list[tuple[bytes, bytes]]


def rename_ahead(source: UnitOfWork, target: UnitOfWork, user_id: UUID) -> Renames:
    """Rename words that were copied before their account moves, as a specification that waits may begin at once.

    Returns: the keys of those that are the account's own, and come with it.  Locks: the others.
    """
    with source.begin() as tx:
        repositories = words.codebases(tx, user_id)
    with target.begin() as tx:
        there: dict[str, str] = json.loads(contents.known_as(tx, repositories))
    own = Renames()
    for tests, before, after in _shelves(source, user_id, there):
        if before.user_id:
            own += _keys(tests, before, after)
        else:
            _rename(target, _keys(tests, before, after))
    return list(dict.fromkeys(own))


def rename_late(source: UnitOfWork, target: UnitOfWork, user_id: UUID) -> None:
    """Rename words that have come since then; it may be repeated.

    Words of tests that are no longer there stay unfound.  Locks: those words.
    """
    with target.begin() as tx:
        repositories = words.codebases(tx, user_id)
    with source.begin() as tx:
        there: dict[str, str] = json.loads(contents.known_as(tx, repositories))
    for tests, after, before in _shelves(target, user_id, there):
        _rename(target, _keys(tests, before, after))


def _shelves(home: UnitOfWork, user_id: UUID, others: Mapping[str, str]) -> Iterator[tuple[Priced, Shelf, Shelf]]:
    """Tests whose words are wanted, where these are, and where by the other id of the repository.

    others: that id, where it is another one.
    """
    with home.begin() as tx:
        wanted = words.wanted(tx, user_id)
    for one in wanted:
        other = others.get(str(one.codebase_id))
        if other is None:
            continue
        try:
            tests = priced(home, one.analysis_id)
        except JobFailedError:  # its analysis was pruned
            continue
        shelf = Shelf(one.codebase_id, user_id if tests.is_private else None, one.generator, one.language)
        yield tests, shelf, replace(shelf, codebase_id=UUID(other))


def _rename(target: UnitOfWork, keys: Iterable[tuple[bytes, bytes]]) -> None:
    every = list(keys)
    for begin in range(0, len(every), words.MOST):
        with target.begin() as tx:
            words.rename(tx, every[begin : begin + words.MOST])


def _keys(tests: Priced, before: Shelf, after: Shelf) -> Iterator[tuple[bytes, bytes]]:
    for identity in tests.each():
        for kind in KINDS:
            yield before.key_of(kind, identity), after.key_of(kind, identity)
