"""The changes of behaviours between two specifications in the same language."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from app.domain.specification import Behaviour, Place, Specification

#: In reading order.
GROUPS = ("added", "removed", "reworded", "moved", "status_changed")


@dataclass(frozen=True, slots=True)
class PlacedBehaviour:
    """A behaviour and its place in its specification."""

    place: Place
    behaviour: Behaviour


@dataclass(frozen=True, slots=True)
class Change:
    """One behaviour on both sides.  before, after: None where it does not exist; never both."""

    before: PlacedBehaviour | None
    after: PlacedBehaviour | None

    @property
    def newest(self) -> PlacedBehaviour:
        """The newer side, if the behaviour still exists."""
        found = self.after or self.before
        if found is None:
            raise ValueError("a change has at least one side")
        return found


@dataclass(frozen=True, slots=True)
class SpecificationChanges:
    """All changes.  groups: the changes of each of GROUPS; one may be in several, for instance moved and reworded.

    Changes are in the order of the newer document, removed ones in the order of the older.
    """

    groups: Mapping[str, Sequence[Change]]
    unchanged: int

    @property
    def totals(self) -> dict[str, int]:
        """The number of changes by group."""
        return {group: len(changes) for group, changes in self.groups.items()}


@dataclass(slots=True)
class _Side:
    """Behaviours of one identity that have no partner yet."""

    before: list[PlacedBehaviour] = field(default_factory=list)
    after: list[PlacedBehaviour] = field(default_factory=list)


def compare(before: Specification, after: Specification) -> SpecificationChanges:
    """Pair behaviours by the identity of their tests.

    Raises: ValueError for two languages, because every sentence would have changed.
    """
    if before.language != after.language:
        raise ValueError(f"specifications in {before.language} and {after.language} cannot be compared")
    sides: defaultdict[bytes, _Side] = defaultdict(_Side)
    for placed in _placed(before):
        sides[placed.behaviour.subject.identity].before.append(placed)
    order: dict[int, int] = {}
    for number, placed in enumerate(_placed(after)):
        sides[placed.behaviour.subject.identity].after.append(placed)
        order[id(placed)] = number
    groups: dict[str, list[Change]] = {group: [] for group in GROUPS}
    unchanged = 0
    for side in sides.values():
        for change in _pairs(side):
            kinds = _kinds(change)
            unchanged += not kinds
            for kind in kinds:
                groups[kind].append(change)
    for kind in GROUPS:
        if kind != "removed":  # already in the order of the older document
            groups[kind].sort(key=lambda change: order[id(change.after)])
    return SpecificationChanges(groups, unchanged)


def _placed(specification: Specification) -> Iterator[PlacedBehaviour]:
    for domain in specification.domains:
        for feature in domain.features:
            place = Place(domain.name, feature.name)
            for behaviour in feature.behaviours:
                yield PlacedBehaviour(place, behaviour)


def _pairs(side: _Side) -> Iterator[Change]:
    """Pair tests of the same name in one file and suite: first those equal on both sides, then the rest by line."""
    if len(side.before) > 1 or len(side.after) > 1:
        yield from _alike(side)
    before, after = sorted(side.before, key=_line), sorted(side.after, key=_line)
    both = min(len(before), len(after))
    yield from map(Change, before[:both], after[:both])
    yield from (Change(placed, None) for placed in before[both:])
    yield from (Change(None, placed) for placed in after[both:])


def _alike(side: _Side) -> Iterator[Change]:
    waiting: defaultdict[tuple[object, ...], list[PlacedBehaviour]] = defaultdict(list)
    for placed in side.before:
        waiting[_sentence_at(placed)].append(placed)
    rest = []
    for placed in side.after:
        found = waiting[_sentence_at(placed)]
        if found:
            yield Change(found.pop(0), placed)
        else:
            rest.append(placed)
    side.before = [placed for found in waiting.values() for placed in found]
    side.after = rest


def _line(placed: PlacedBehaviour) -> int:
    return placed.behaviour.subject.line


def _sentence_at(placed: PlacedBehaviour) -> tuple[object, ...]:
    return placed.place, placed.behaviour.sentence, placed.behaviour.subject.status


def _kinds(change: Change) -> list[str]:
    """The groups of a change; empty if nothing changed.  Another line in the file is not a change."""
    old, new = change.before, change.after
    if old is None or new is None:
        return ["added" if old is None else "removed"]
    different = {
        "reworded": old.behaviour.sentence != new.behaviour.sentence,
        "moved": old.place != new.place,
        "status_changed": old.behaviour.subject.status != new.behaviour.subject.status,
    }
    return [group for group, is_so in different.items() if is_so]
