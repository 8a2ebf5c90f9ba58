"""How a series grows, and whether that is flat: Theil and Sen's slope, which a few odd samples do not move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from statistics import median

#: Medians of so many parts of a series are compared: all pairs of 500 samples would take a second for each series.
PARTS = 40
TEN_MINUTES = 600.0

#: (seconds, value), by time.
Series = Sequence[tuple[float, float]]


@dataclass(frozen=True, slots=True)
class Bound:
    """What is flat.  Growth in ten minutes may be `units` or `share` of the median, whichever is more.

    least, least_share: growth over the whole time that is judged which is none, however short that is: of single
    pages, and of work that comes by chance.
    """

    units: float
    share: float
    least: float
    least_share: float = 0.0

    def allows(self, middle: float, seconds: float) -> float:
        """Growth in so many seconds of a series with this median."""
        steady = max(self.units, self.share * middle) * seconds / TEN_MINUTES
        return max(self.least, self.least_share * middle, steady)


@dataclass(frozen=True, slots=True)
class Trend:
    """growth, allowed: over the time that was judged, in the series' unit; each, limit: in ten minutes."""

    middle: float
    growth: float
    each: float
    allowed: float
    limit: float

    @property
    def is_flat(self) -> bool:
        """Whether the growth is within the bound; shrinking always is."""
        return self.growth <= self.allowed


def slope(series: Series) -> float:
    """The median of the slopes between all pairs, in units a second; 0 of fewer than two instants."""
    points = _parts(series)
    slopes = [(b - a) / (t - s) for (s, a), (t, b) in combinations(points, 2) if t > s]
    return median(slopes) if slopes else 0.0


def trend(series: Series, bound: Bound) -> Trend:
    """Judge what came after the warm-up."""
    if not series:
        raise ValueError("a series without a sample says nothing")
    seconds = series[-1][0] - series[0][0]
    middle = median(value for _, value in series)
    rate = slope(series)
    allowed = bound.allows(middle, seconds)
    return Trend(middle, rate * seconds, rate * TEN_MINUTES, allowed, allowed * TEN_MINUTES / max(seconds, 1.0))


def _parts(series: Series) -> list[tuple[float, float]]:
    size = max(1, -(-len(series) // PARTS))
    parts = [series[at : at + size] for at in range(0, len(series), size)]
    return [(median(at for at, _ in part), median(value for _, value in part)) for part in parts]
