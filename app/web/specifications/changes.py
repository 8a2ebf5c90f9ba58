"""The changes between two specifications as their page lists them: filtered, a sheet at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from app.domain.specification_changes import Change, SpecificationChanges
from app.web.core.schemas import SpecificationChangesQuery

SIZE = 200  # changes on a sheet


@dataclass(frozen=True, slots=True)
class ChangesSheet:
    """A page of changes.  groups: what to show by group, none of them empty; matching: under the search, by group."""

    groups: Mapping[str, Sequence[Change]]
    number: int
    of: int
    total: int
    matching: Mapping[str, int]


def changes_sheet(found: SpecificationChanges, query: SpecificationChangesQuery) -> ChangesSheet:
    """The requested sheet, or the last one if there are fewer."""
    part = query.q.casefold()
    matching = {group: [one for one in changes if part in _text(one)] for group, changes in found.groups.items()}
    wanted = {group: changes for group, changes in matching.items() if query.group in (None, group)}
    total = sum(map(len, wanted.values()))
    of = max(1, -(-total // SIZE))
    number = min(query.page, of)
    counts = {group: len(changes) for group, changes in matching.items()}
    return ChangesSheet(_part(wanted, (number - 1) * SIZE), number, of, total, counts)


def _part(wanted: Mapping[str, Sequence[Change]], before: int) -> dict[str, Sequence[Change]]:
    """SIZE changes after the first `before`, group by group."""
    shown: dict[str, Sequence[Change]] = {}
    left = SIZE
    for group, changes in wanted.items():
        part = changes[before : before + left]
        if part:
            shown[group] = part
        left -= len(part)
        before = max(0, before - len(changes))
    return shown


def _text(change: Change) -> str:
    words = []
    for side in (change.before, change.after):
        if side is not None:
            subject = side.behaviour.subject
            words += [side.place.domain, side.place.feature, side.behaviour.sentence, subject.file]
            words += [*subject.suites, subject.name]
    return "\n".join(words).casefold()
