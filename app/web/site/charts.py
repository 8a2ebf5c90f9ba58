"""Numbers for the bars of a page: widths in percent, so that they fit any screen without a script."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from app.domain.quota import Usage


@dataclass(frozen=True, slots=True)
class Bar:
    """One row of a chart.  start, width: percent of the whole picture; share: of the total, in percent."""

    label: str
    count: int
    start: float
    width: float
    share: float


def bars(counts: Mapping[str, int]) -> list[Bar]:
    """Largest first; the longest bar fills the width, and `start` stacks them all in one row."""
    total, longest = sum(counts.values()) or 1, max(counts.values(), default=1) or 1
    rows, before = [], 0
    for label, count in sorted(counts.items(), key=lambda item: (-item[1], item[0])):
        share = round(100 * count / total, 2)
        rows.append(Bar(label, count, round(100 * before / total, 2), round(100 * count / longest, 2), share))
        before += count
    return rows


@dataclass(frozen=True, slots=True)
class ChartRow:
    """A bar with parts.  count: of all parts, whose widths are percent of the longest row."""

    label: str
    count: int
    parts: list[Bar]


def rows(counts: Mapping[str, Mapping[str, int]]) -> list[ChartRow]:
    """Largest first; the longest fills the width.  counts: row -> part -> number."""
    totals = {label: sum(parts.values()) for label, parts in counts.items()}
    longest = max(totals.values(), default=1) or 1
    return [
        ChartRow(label, totals[label], list(_parts(counts[label], totals[label] or 1, longest)))
        for label in sorted(totals, key=lambda label: (-totals[label], label))
    ]


def _parts(counts: Mapping[str, int], total: int, longest: int) -> Iterator[Bar]:
    """Sort by name, so that each colour is at the same place in every row."""
    before = 0
    for label, count in sorted(counts.items()):
        start, width = round(100 * before / longest, 2), round(100 * count / longest, 2)
        yield Bar(label, count, start, width, round(100 * count / total, 2))
        before += count


@dataclass(frozen=True, slots=True)
class Column:
    """One of several columns.  start, width, height: percent of the picture."""

    start: float
    width: float
    height: float


def columns(counts: Sequence[int], of: int) -> list[Column]:
    """Draw columns in this order from the left; the highest fills the height, and nothing is lower than a line.

    of: how many fill the width.
    """
    highest, each = max(counts, default=0) or 1, 100 / of
    heights = [max(1.0, 100 * count / highest) for count in counts]
    return [
        Column(round((place + 0.1) * each, 2), round(each * 0.8, 2), round(height, 2))
        for place, height in enumerate(heights)
    ]


def shares(row: Mapping[str, float], names: Sequence[str]) -> list[Bar]:
    """The parts of one whole, in this order; all are 0 if the whole is."""
    total, parts, before = sum(row[name] for name in names) or 1, [], 0.0
    for name in names:
        share = round(100 * row[name] / total, 1)
        parts.append(Bar(name, 0, round(before, 1), share, share))
        before += share
    return parts


def meter(usage: Usage) -> dict[str, float]:
    """Percent of a limit that is used and reserved; an excess is not shown."""
    limit = usage.limit or 1
    used = min(100.0, 100 * usage.used / limit)
    return {"used": round(used, 2), "reserved": round(min(100 - used, 100 * usage.reserved / limit), 2)}


def near(number: int, of: int) -> list[int | None]:
    """Page numbers to link: the first, the last, those around this one; None stands for a gap."""
    shown = sorted({1, of, *range(max(1, number - 2), min(of, number + 2) + 1)})
    found: list[int | None] = []
    for before, page in zip([0, *shown], shown, strict=False):
        found += [None, page] if page > before + 1 else [page]
    return found
