"""The part of a specification that one page shows: filtered, and never more than a browser can display easily."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import groupby

from app.domain.contents import domain_anchor, feature_anchor
from app.domain.specification import Behaviour, Feature, Specification
from app.services.specifications.documents import HeadingLine
from app.web.core.schemas import SpecificationQuery
from app.web.specifications.words import Words, words

SIZE = 1000  # behaviours on a sheet
#: Up to this number, features are open, and the contents list every feature.
OPEN, LISTED = 500, 400


@dataclass(frozen=True, slots=True)
class FeaturePart:
    """A feature on a sheet.  total: matching behaviours on all sheets; before: those on earlier ones."""

    name: str
    anchor: str
    behaviours: Sequence[Behaviour]
    total: int
    before: int


@dataclass(frozen=True, slots=True)
class DomainPart:
    """A domain on a sheet.  total: matching behaviours on all sheets."""

    name: str
    anchor: str
    total: int
    features: list[FeaturePart] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class SheetEntry:
    """A line of the contents.  behaviours: matching ones; page: the first sheet that shows some of them."""

    name: str
    anchor: str
    behaviours: int
    page: int
    entries: list[SheetEntry] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class DocumentSheet:
    """A page of behaviours.  statuses: those under the search by status; total: those of the wanted status."""

    domains: Sequence[DomainPart]
    contents: Sequence[SheetEntry]
    number: int
    of: int
    total: int
    shown: int
    statuses: Mapping[str, int]

    @property
    def is_open(self) -> bool:
        """Whether there are so few behaviours that all features are shown open."""
        return self.shown <= OPEN


@dataclass(frozen=True, slots=True)
class _Piece:
    """Behaviours from `start` to `stop` of the matching ones of a feature, on one sheet."""

    domain: int
    feature: int
    start: int
    stop: int


#: Matching behaviours of each feature of each domain; empty ones are left out.
_Found = list[tuple[str, list[tuple[str, Sequence[Behaviour]]]]]
#: The same as numbers.
_Sizes = Sequence[tuple[str, Sequence[tuple[str, int]]]]
#: Reads the behaviours of features; given: places (of the domain, of the feature in it).
_Read = Callable[[Sequence[tuple[int, int]]], Mapping[tuple[int, int], Sequence[Behaviour]]]


def sheet(specification: Specification, query: SpecificationQuery) -> DocumentSheet:
    """The requested sheet, or the last one if there are fewer."""
    searched = list(_searched(specification, query.q.casefold()))
    statuses = Counter(b.subject.status for _, features in searched for _, found in features for b in found)
    matching = list(_with_status(searched, query.status)) if query.status else searched
    sizes = [(domain, [(feature, len(found)) for feature, found in features]) for domain, features in matching]
    return _sheet(sizes, query.page, statuses, lambda places: {(d, f): matching[d][1][f][1] for d, f in places})


def leaf(
    outline: Sequence[HeadingLine],
    number: int,
    statuses: Mapping[str, int],
    read: Callable[[int, int], Sequence[Feature]],
) -> DocumentSheet:
    """A sheet of an unfiltered document, of which only that sheet is read.

    statuses: of the whole document; read: features by their positions, from one to another.
    """
    lines = [list(found) for _, found in groupby(outline, lambda line: line.domain)]

    def between(places: Sequence[tuple[int, int]]) -> dict[tuple[int, int], Sequence[Behaviour]]:
        positions = [lines[domain][feature].position for domain, feature in places]
        found = read(positions[0], positions[-1]) if positions else []
        return {place: feature.behaviours for place, feature in zip(places, found, strict=True)}

    sizes = [(found[0].domain, [(line.feature, line.total) for line in found]) for found in lines]
    return _sheet(sizes, number, statuses, between)


def _sheet(sizes: _Sizes, wanted: int, statuses: Mapping[str, int], read: _Read) -> DocumentSheet:
    pages = list(_paged(sizes)) or [[]]
    number = min(wanted, len(pages))
    page = pages[number - 1]
    domains = _domains(sizes, page, read([(piece.domain, piece.feature) for piece in page]))
    total = sum(size for _, features in sizes for _, size in features)
    return DocumentSheet(
        domains,
        _entries(sizes, pages, number),
        number,
        len(pages),
        total,
        sum(piece.stop - piece.start for piece in page),
        statuses,
    )


def _searched(specification: Specification, part: str) -> Iterator[tuple[str, list[tuple[str, Sequence[Behaviour]]]]]:
    """A heading with these letters matches everything below it."""
    say = words(specification.language)
    for domain in specification.domains:
        everything = part in say.domain(domain.name).casefold()
        features = [(f.name, _having(f, "" if everything else part, say)) for f in domain.features]
        if kept := [(name, found) for name, found in features if found]:
            yield domain.name, kept


def _having(feature: Feature, part: str, say: Words) -> Sequence[Behaviour]:
    if part in say.feature(feature.name).casefold():
        return feature.behaviours
    return [behaviour for behaviour in feature.behaviours if part in _text(behaviour)]


def _text(behaviour: Behaviour) -> str:
    subject = behaviour.subject
    return "\n".join((behaviour.sentence, subject.file, *subject.suites, subject.name)).casefold()


def _with_status(found: _Found, status: str) -> Iterator[tuple[str, list[tuple[str, Sequence[Behaviour]]]]]:
    for domain, features in found:
        kept: list[tuple[str, Sequence[Behaviour]]] = []
        for name, behaviours in features:
            if narrowed := [behaviour for behaviour in behaviours if behaviour.subject.status == status]:
                kept.append((name, narrowed))
        if kept:
            yield domain, kept


def _paged(sizes: _Sizes) -> Iterator[list[_Piece]]:
    """A domain or feature that fits on one sheet is not split."""
    page: list[_Piece] = []
    room = SIZE
    for number, (_, features) in enumerate(sizes):
        whole = sum(size for _, size in features)
        for place, (_, size) in enumerate(features):
            start = 0
            if page and any(room < least <= SIZE for least in (size, 0 if place else whole)):
                yield page
                page, room = [], SIZE
            while start < size:
                stop = min(size, start + room)
                page.append(_Piece(number, place, start, stop))
                room -= stop - start
                start = stop
                if not room:
                    yield page
                    page, room = [], SIZE
    if page:
        yield page


def _domains(
    sizes: _Sizes, page: Sequence[_Piece], read: Mapping[tuple[int, int], Sequence[Behaviour]]
) -> list[DomainPart]:
    parts: dict[int, DomainPart] = {}
    for piece in page:
        name, features = sizes[piece.domain]
        if piece.domain not in parts:
            parts[piece.domain] = DomainPart(name, domain_anchor(name), sum(size for _, size in features))
        feature, size = features[piece.feature]
        shown = read[piece.domain, piece.feature][piece.start : piece.stop]
        parts[piece.domain].features.append(
            FeaturePart(feature, feature_anchor(name, feature), shown, size, piece.start)
        )
    return list(parts.values())


def _entries(sizes: _Sizes, pages: Sequence[Sequence[_Piece]], number: int) -> list[SheetEntry]:
    """Every domain, and its features if there are few in all or if they are on this sheet."""
    first: dict[tuple[int, int], int] = {}
    for page, pieces in enumerate(pages, start=1):
        for piece in pieces:
            first.setdefault((piece.domain, piece.feature), page)
    here = {(piece.domain, piece.feature) for piece in pages[number - 1]}
    is_short = len(first) <= LISTED
    return [
        SheetEntry(name, domain_anchor(name), sum(size for _, size in features), first[place, 0], [
            SheetEntry(feature, feature_anchor(name, feature), size, first[place, inner])
            for inner, (feature, size) in enumerate(features)
            if is_short or (place, inner) in here
        ])
        for place, (name, features) in enumerate(sizes)
    ]  # fmt: skip
