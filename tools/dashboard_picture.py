"""Draw what the panels of the dashboard ask of a Prometheus: `python tools/dashboard_picture.py URL FILE.svg MINUTES`.

It is not Grafana: it runs the same queries, puts the panels in the same places, and names those without data.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from xml.sax.saxutils import escape

import httpx

DASHBOARD = Path(__file__).parents[1] / "deploy/monitoring/dashboard.json"
#: What Grafana fills in: four intervals of a scrape, and all services.
VARIABLES = {"$__rate_interval": "1m", "$service": ".*"}
POINTS = 120
#: Pixels of a column and of a row of the dashboard's grid, and between panels.
COLUMN, ROW, GAP = 60, 32, 8
#: Pixels of a panel that its title and its legend take, and of a line of the legend.
HEAD, LINE, AXIS = 24, 13, 46
#: Series in a legend; more are drawn than named.
NAMED = 5
COLOURS = ("#3274d9", "#e0752d", "#3a8f3e", "#c4162a", "#8f3bb8", "#b8860b", "#0e8a8a", "#d6569e", "#5f6b7a", "#7d5a3c")
UNITS = {"s": " s", "reqps": "/s", "bytes": "B", "Bps": "B/s", "percentunit": "%", "short": ""}
STYLE = (
    "text{font:11px sans-serif;fill:#2a2f36}.title{font-weight:600;font-size:12px}.row{font-size:15px;font-weight:600}"
    ".axis{fill:#7a828c;font-size:10px}.none{fill:#9aa2ab;font-size:13px}.stat{font-size:20px;font-weight:600}"
    "polyline{fill:none;stroke-width:1.4}.panel{fill:#fff;stroke:#d9dde2}"
)

Points = list[tuple[float, float]]


@dataclass(frozen=True)
class Span:
    """The time that is drawn, in seconds since 1970."""

    start: float
    end: float

    @property
    def step(self) -> float:
        """Seconds between two points, at least those between two scrapes."""
        return max(15.0, (self.end - self.start) / POINTS)


@dataclass(frozen=True)
class Panel:
    """A panel and its series, by their names."""

    of: Mapping[str, Any]
    series: Mapping[str, Points] = field(default_factory=dict)

    @property
    def unit(self) -> str:
        """The unit of its values, as Grafana names it."""
        return str(self.of["fieldConfig"]["defaults"]["unit"])

    @property
    def without(self) -> str:
        """What stands there without data."""
        return str(self.of["fieldConfig"]["defaults"].get("noValue", "no data"))


def main(url: str, file: str, minutes: str) -> int:
    """Write the picture, and print the panels that have no data."""
    span = Span(time.time() - 60 * float(minutes), time.time())
    described = json.loads(DASHBOARD.read_text(encoding="utf-8"))["panels"]
    with httpx.Client(base_url=url, timeout=30) as prometheus:
        panels = [Panel(one, asked(prometheus, one, span)) for one in described]
    Path(file).write_text(picture(panels, span), encoding="utf-8")
    for panel in panels:
        if panel.of["type"] != "row" and not panel.series:
            print(f"{panel.without}: {panel.of['title']}")
    return 0


def asked(prometheus: httpx.Client, panel: Mapping[str, Any], span: Span) -> dict[str, Points]:
    """The series of all queries of a panel, without values that are no numbers."""
    found = dict[str, Points]()
    for target in panel.get("targets", ()):
        query = target["expr"]
        for name, value in VARIABLES.items():
            query = query.replace(name, value)
        given = {"query": query, "start": span.start, "end": span.end, "step": span.step}
        answer = prometheus.get("/api/v1/query_range", params=given).raise_for_status().json()
        for series in answer["data"]["result"]:
            points = [(at, float(value)) for at, value in series["values"] if value not in {"NaN", "+Inf", "-Inf"}]
            if points:
                found[named(target["legendFormat"], series["metric"])] = points
    return found


def named(pattern: str, labels: Mapping[str, str]) -> str:
    """The name in the legend; a label that a series lacks is empty."""
    for label, value in labels.items():
        pattern = pattern.replace(f"{{{{{label}}}}}", value)
    return pattern


def picture(panels: list[Panel], span: Span) -> str:
    """The whole dashboard."""
    below = max(panel.of["gridPos"]["y"] + panel.of["gridPos"]["h"] for panel in panels)
    size = f'width="{24 * COLUMN}" height="{below * ROW}" viewBox="0 0 {24 * COLUMN} {below * ROW}"'
    lines = [f'<svg xmlns="http://www.w3.org/2000/svg" {size}>', f"<style>{STYLE}</style>"]
    lines.append('<rect width="100%" height="100%" fill="#f4f5f7"/>')
    for panel in panels:
        lines += drawn(panel, span)
    return "\n".join([*lines, "</svg>", ""])


def drawn(panel: Panel, span: Span) -> Iterator[str]:
    """A panel at its place of the grid."""
    grid = panel.of["gridPos"]
    width, height = grid["w"] * COLUMN - GAP, grid["h"] * ROW - GAP
    yield f'<g transform="translate({grid["x"] * COLUMN + GAP / 2:g},{grid["y"] * ROW + GAP / 2:g})">'
    if panel.of["type"] == "row":
        yield text(2, 18, panel.of["title"], "row")
    else:
        yield f'<rect class="panel" width="{width}" height="{height}" rx="3"/>'
        yield text(8, 16, panel.of["title"], "title")
        if not panel.series:
            yield text(width / 2 - 24, height / 2 + 8, panel.without, "none")
        else:
            yield from (numbers if panel.of["type"] == "stat" else curves)(panel, width, height, span)
    yield "</g>"


def numbers(panel: Panel, width: float, height: float, _: Span) -> Iterator[str]:
    """The last value of each series."""
    each = width / len(panel.series)
    for place, (name, points) in enumerate(panel.series.items()):
        yield text(place * each + 10, height / 2 + 14, value(points[-1][1], panel.unit), "stat")
        yield text(place * each + 10, height / 2 + 32, name, "axis")


def curves(panel: Panel, width: float, height: float, span: Span) -> Iterator[str]:
    """The series over the time, the highest value and the ends of the time at the axes, and the legend."""
    ordered = sorted(panel.series.items(), key=lambda item: -max(y for _, y in item[1]))
    colours = {name: COLOURS[place % len(COLOURS)] for place, (name, _) in enumerate(ordered)}
    left, top, right = AXIS, HEAD + 8, width - 10
    bottom = height - 20 - min(len(ordered), NAMED) * LINE
    values = [y for _, points in ordered for _, y in points]
    low, high = min(0.0, *values), max(values) or 1.0
    for at, y in ((high, top), (low, bottom)):
        yield f'<path d="M{left} {y:g}H{right:g}" stroke="#e3e6ea"/>'
        yield text(4, y + 4, value(at, panel.unit), "axis")
    yield text(left, bottom + 13, clock(span.start), "axis")
    yield text(right - 28, bottom + 13, clock(span.end), "axis")
    for name, points in ordered:
        for run in runs(points, span.step):
            ends = [
                f"{left + (at - span.start) / (span.end - span.start) * (right - left):.1f},"
                f"{bottom - (y - low) / (high - low or 1) * (bottom - top):.1f}"
                for at, y in (run if len(run) > 1 else run * 2)  # a dot
            ]
            yield f'<polyline stroke="{colours[name]}" stroke-linecap="round" points="{" ".join(ends)}"/>'
    yield from legend(ordered, colours, panel.unit, bottom + 26)


def legend(ordered: list[tuple[str, Points]], colours: Mapping[str, str], unit: str, top: float) -> Iterator[str]:
    """The names of the first series, and their last values."""
    for place, (name, points) in enumerate(ordered[:NAMED]):
        y = top + place * LINE
        more = f"  and {len(ordered) - NAMED} more" if place == NAMED - 1 and len(ordered) > NAMED else ""
        yield f'<rect x="{AXIS}" y="{y - 5:g}" width="10" height="3" fill="{colours[name]}"/>'
        yield text(AXIS + 15, y, f"{name}  {value(points[-1][1], unit)}{more}")


def runs(points: Points, step: float) -> Iterator[Points]:
    """The points, divided where some are missing between two."""
    begin = 0
    for place in range(1, len(points) + 1):
        if place == len(points) or points[place][0] - points[place - 1][0] > 1.5 * step:
            yield points[begin:place]
            begin = place


def value(number: float, unit: str) -> str:
    """A number with its unit, in few digits."""
    if unit == "percentunit":
        return f"{100 * number:.3g}%"
    for power, letter in ((9, "G"), (6, "M"), (3, "k")):
        if abs(number) >= 10**power and unit != "s":
            return f"{number / 10**power:.3g} {letter}{UNITS.get(unit, '')}"
    return f"{number:.3g}{UNITS.get(unit, '')}"


def clock(at: float) -> str:
    """Hour and minute, UTC."""
    return time.strftime("%H:%M", time.gmtime(at))


def text(x: float, y: float, words: str, kind: str = "") -> str:
    """A text of the picture."""
    return f'<text x="{x:g}" y="{y:g}"{f" class={kind!r}" if kind else ""}>{escape(words)}</text>'


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
