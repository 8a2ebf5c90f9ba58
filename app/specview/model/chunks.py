"""How many tests go into one call: by number and by estimated tokens."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from app.domain.specification import Place, Subject
from app.specview.generator import Part

T = TypeVar("T")
#: Of a whole and of each part of a test's name as the model sees it, in characters.
LONGEST_NAME, LONGEST_SUITE, LONGEST_FILE = 240, 80, 240
MOST_SUITES = 4  # the innermost ones


@dataclass(frozen=True, slots=True)
class Size:
    """The limits of one call.  tokens: of its tests, estimated, without instructions and answer."""

    tests: int
    tokens: int


CLASSIFY = Size(tests=500, tokens=30_000)
CONVERT = Size(tests=50, tokens=6_000)


def estimate(text: str) -> int:
    """Tokens of a text, rather too many: a third of its bytes, which is a sign each for Chinese and Korean."""
    return len(text.encode(errors="replace")) // 3 + 1


def weight(subject: Subject) -> int:
    """Tokens that a test adds to a call, with the signs of JSON around it."""
    suites = subject.suites[-MOST_SUITES:]
    return estimate(subject.name[:LONGEST_NAME]) + sum(estimate(suite[:LONGEST_SUITE]) for suite in suites) + 12


def by_file(subjects: Iterable[Subject], size: Size = CLASSIFY) -> Iterator[list[Subject]]:
    """Chunks of whole files, in their order; only a file that is larger than a chunk is split."""
    files = dict[str, list[Subject]]()
    for subject in subjects:
        files.setdefault(subject.file, []).append(subject)
    return _filled(([(weight(subject), subject) for subject in file] for file in files.values()), size)


def by_part(parts: Iterable[Part], size: Size = CONVERT) -> Iterator[list[tuple[Place, Subject]]]:
    """Chunks of whole parts where they fit, small ones together; asks for a part when it is needed."""
    return _filled(([(weight(one), (part.place, one)) for one in part.subjects] for part in parts), size)


def _filled(groups: Iterable[Sequence[tuple[int, T]]], size: Size) -> Iterator[list[T]]:
    """Groups in their order, as many as fit; rows: (tokens, what goes into the chunk)."""
    filling, tokens = list[T](), 0
    for group in groups:
        whole = sum(cost for cost, _ in group)
        fits_alone = len(group) <= size.tests and whole <= size.tokens
        fits_here = len(filling) + len(group) <= size.tests and tokens + whole <= size.tokens
        if filling and fits_alone and not fits_here:
            yield filling
            filling, tokens = [], 0
        for cost, one in group:
            if filling and (len(filling) >= size.tests or tokens + cost > size.tokens):
                yield filling
                filling, tokens = [], 0
            filling.append(one)
            tokens += cost
    if filling:
        yield filling
