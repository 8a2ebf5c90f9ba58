"""The statements of a Robot Framework file: cells, with what the next lines add to them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

SPACES: Final = re.compile(r"\s{2,}|\t")
#: a run of blanks is looked at from its beginning alone
PIPES: Final = re.compile(r"(?:^|(?<!\s)\s++)\|(?=\s|$)")
MORE: Final = "..."


@dataclass(slots=True)
class Statement:
    """Cells of a line, and of those that continue it.

    cells: the first is empty where it is indented; line: 1-based; last: of its lines.
    """

    cells: list[str]
    line: int
    last: int
    column: int = 1


def statements(text: str) -> Iterator[Statement]:
    """All of them, without comments."""
    current: Statement | None = None
    for place, raw in enumerate(text.replace("\r", "").split("\n"), start=1):
        line = raw.rstrip()
        cells = _data(_cells(line))
        words = [place for place, cell in enumerate(cells) if cell.strip()]
        if not words:
            continue
        first = cells[words[0]].strip()
        if first == MORE and current is not None:
            current.cells += cells[words[0] + 1 :]
            current.last = place
            continue
        if current is not None:
            yield current
        column = len(line[: line.find(first)].encode()) + 1
        current = Statement(cells, place, place, column)
    if current is not None:
        yield current


def _cells(line: str) -> list[str]:
    """Cells of a line: between two blanks or more, or between pipes."""
    if line[:1] == "|" and line[:2].strip() == "|":
        return [cell.strip() for cell in PIPES.split(line)[1:]]
    return SPACES.split(line)


def _data(cells: list[str]) -> list[str]:
    """Cells in front of a comment."""
    comment = next((place for place, cell in enumerate(cells) if cell.lstrip().startswith("#")), len(cells))
    return cells[:comment]
