"""Which series must be flat, and which of them are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from bench.soak.processes import SHORT, Sample
from bench.soak.trend import Bound, Trend, trend

KB, MB = 1 << 10, 1 << 20
#: The first third fills caches, pools and tables.
WARM_UP = 1 / 3
#: What is flat.  Memory: what processes allocated, in ten minutes.  Tables may breathe between two vacuums.
BOUNDS = {
    "memory": Bound(2 * MB, 0.02, least=1.5 * MB),
    "descriptors": Bound(1, 0.01, least=2),
    "threads": Bound(1, 0.01, least=1),
    "processes": Bound(0.5, 0.0, least=1),
    "connections": Bound(0.5, 0.0, least=1),
    "table bytes": Bound(256 * KB, 0.05, least=256 * KB),
    "index bytes": Bound(256 * KB, 0.05, least=256 * KB),
    "rows": Bound(100, 0.05, least=100),
    "files": Bound(1, 0.01, least=2),
}
#: Kept for ever by design: bytes may grow with rows, but not faster.
KEPT = {"usage_events", "usage_sums", "audit_log"}
#: Of what is kept, bytes a row.
KEPT_BOUND = Bound(0.0, 0.05, least=16.0)


@dataclass(frozen=True, slots=True)
class Look:
    """One sample.  at: seconds since the load began; alive: jobs that were accepted within the life of a row."""

    at: float
    sample: Sample
    alive: int


@dataclass(frozen=True, slots=True)
class Judged:
    """A series and how it grew."""

    what: str
    part: str
    trend: Trend
    points: list[tuple[float, float]]


def judge(looks: Sequence[Look], table_of: dict[str, str]) -> list[Judged]:
    """All series that must be flat, after the warm-up.  table_of: the table of each index."""
    warm = [look for look in looks if look.at >= looks[-1].at * WARM_UP]
    keys = sorted({key for look in warm for key in look.sample if key[0] in BOUNDS and key[1] != SHORT})
    return [_judged(warm, what, part, table_of) for what, part in keys if (what, part) not in _growing(keys)]


def failures(judged: Iterable[Judged]) -> list[Judged]:
    """What grew."""
    return [one for one in judged if not one.trend.is_flat]


def _growing(keys: Iterable[tuple[str, str]]) -> set[tuple[str, str]]:
    return {("rows", part) for what, part in keys if what == "rows" and part in KEPT}


def _judged(warm: Sequence[Look], what: str, part: str, table_of: dict[str, str]) -> Judged:
    table = table_of.get(part, part)
    counted = "rows" if what == "rows" else "table bytes"
    # rows are counted in some samples only; a process that is away for a moment counts as none
    points = [
        (look.at, float(look.sample[what, part]), look) for look in warm if what not in {"rows"} or (counted, part) in look.sample
    ]
    if what in {"table bytes", "index bytes"} and table in KEPT:
        rows = _latest_rows(warm, table)
        each = [(at, value / max(rows[look.at], 1)) for at, value, look in points]
        return Judged(what, f"{part}, a row", trend(each, KEPT_BOUND), each)
    if what in {"rows", "table bytes", "index bytes"}:
        each = _at_the_usual_rate(points)
        return Judged(what, part, trend(each, BOUNDS[what]), each)
    plain = [(at, value) for at, value, _ in points]
    return Judged(what, part, trend(plain, BOUNDS[what]), plain)


def _latest_rows(warm: Sequence[Look], table: str) -> dict[float, int]:
    rows, found = 0, {}
    for look in warm:
        rows = look.sample.get(("rows", table), rows)
        found[look.at] = rows
    first = next((count for count in found.values() if count), 0)
    return {at: count or first for at, count in found.items()}


def _at_the_usual_rate(points: Sequence[tuple[float, float, Look]]) -> list[tuple[float, float]]:
    """Divided by how many jobs are alive, as others on the machine change how many there are.

    A table does not give room back, so the most that were alive until then counts.
    """
    usual = sorted(look.alive for *_, look in points)[len(points) // 2]
    most, found = 0, []
    for at, value, look in points:
        most = max(most, look.alive)
        found.append((at, value * usual / most if usual and most else value))
    return found
