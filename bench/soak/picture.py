"""A small picture of the series of a soak, as SVG: one line each, from its own nothing to its own most."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from bench.soak.trend import Series

XMLNS = "http://www.w3.org/2000/svg"
WIDTH, HEIGHT, LEFT, GAP, MOST_POINTS = 360, 56, 12, 22, 180


def draw(panels: Sequence[tuple[str, Series, str]], warm_until: float) -> str:
    """panels: (title, series, the unit of its most); the line in grey is where the warm-up ends."""
    rows = -(-len(panels) // 2)
    width, height = 2 * (WIDTH + 2 * LEFT), rows * (HEIGHT + GAP) + GAP
    parts = [
        f'<svg xmlns="{XMLNS}" width="{width}" height="{height}" font-family="sans-serif" font-size="10">',
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
    ]
    for at, (title, series, most) in enumerate(panels):
        x, y = LEFT + (at % 2) * (WIDTH + 2 * LEFT), GAP + (at // 2) * (HEIGHT + GAP)
        parts += _panel(x, y, f"{title}, at most {most}", series, warm_until)
    return "\n".join([*parts, "</svg>", ""])


def _panel(x: float, y: float, title: str, series: Series, warm_until: float) -> list[str]:
    last = max(series[-1][0], 1.0)
    top = max(1e-9, *(value for _, value in series))
    step = -(-len(series) // MOST_POINTS)
    points = " ".join(
        f"{x + WIDTH * at / last:.1f},{y + HEIGHT * (1 - value / top):.1f}" for at, value in series[::step]
    )
    warm = x + WIDTH * warm_until / last
    return [
        f'<text x="{x}" y="{y - 4}">{escape(title)}</text>',
        f'<rect x="{x}" y="{y}" width="{WIDTH}" height="{HEIGHT}" fill="none" stroke="#ccc"/>',
        f'<line x1="{warm:.1f}" y1="{y}" x2="{warm:.1f}" y2="{y + HEIGHT}" stroke="#999" stroke-dasharray="3"/>',
        f'<polyline points="{points}" fill="none" stroke="#06c"/>',
    ]
