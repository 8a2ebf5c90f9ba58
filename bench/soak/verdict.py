"""Which series must be flat, and which of them are not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import median

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
    "table bytes": Bound(64 * KB, 0.02, least=256 * KB, least_share=0.1),
    "index bytes": Bound(64 * KB, 0.02, least=256 * KB, least_share=0.1),
    "rows": Bound(20, 0.02, least=100, least_share=0.15),
    "files": Bound(1, 0.01, least=2),
}
#: A session of PostgreSQL opens the files of a table when it first reads it, and closes them when it has 1,000.
OF_SESSIONS = Bound(1, 0.05, least=2)
SIZES = ("table bytes", "index bytes")
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
    return [_judged(warm, what, part, table_of.get(part, part)) for what, part in keys if not _may_grow(what, part)]


def failures(judged: Iterable[Judged]) -> list[Judged]:
    """What grew."""
    return [one for one in judged if not one.trend.is_flat]


def _may_grow(what: str, part: str) -> bool:
    return what == "rows" and part in KEPT


def _judged(warm: Sequence[Look], what: str, part: str, table: str) -> Judged:
    if what == "rows":
        points = _at_the_usual_rate([(look, count) for look, count in _counted(warm, part)])
    elif what in SIZES and table in KEPT:
        return _of_a_row(warm, what, part, table)
    elif what in SIZES:
        points = _at_the_usual_rate([(look, look.sample[what, part]) for look in warm])
    else:  # a process or a connection that is away for a moment counts as none
        points = [(look.at, float(look.sample[what, part])) for look in warm]
    is_of_sessions = what == "descriptors" and part.startswith("PostgreSQL")
    return Judged(what, part, trend(points, OF_SESSIONS if is_of_sessions else BOUNDS[what]), points)


def _counted(warm: Sequence[Look], table: str) -> list[tuple[Look, int]]:
    """Rows are counted in some of the samples only."""
    return [(look, look.sample["rows", table]) for look in warm if any(what == "rows" for what, _ in look.sample)]


def _of_a_row(warm: Sequence[Look], what: str, part: str, table: str) -> Judged:
    points = [(look.at, look.sample[what, part] / max(rows, 1)) for look, rows in _counted(warm, table)]
    return Judged(what, f"{part}, a row", trend(points, KEPT_BOUND), points)


def _at_the_usual_rate(points: Sequence[tuple[Look, int]]) -> list[tuple[float, float]]:
    """Divided by how many jobs are alive, as others on the machine change how many there are.

    A table does not give room back, so the most that were alive until then counts.
    """
    usual = median(look.alive for look, _ in points)
    most, found = 0, []
    for look, value in points:
        most = max(most, look.alive)
        found.append((look.at, value * usual / most if usual and most else float(value)))
    return found
