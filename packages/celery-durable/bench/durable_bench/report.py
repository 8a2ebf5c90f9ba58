"""The figures as a table, and as JSON."""

import statistics
from collections.abc import Mapping

from durable_bench.systems import SYSTEMS

OURS = "ours"
#: scene -> measure -> system -> figures, one a round
Results = dict[str, dict[str, dict[str, list[float]]]]


def table(results: Results, without: Mapping[str, str]) -> str:
    """A block for each measure: median (least-most), and ours divided by it."""
    lines = []
    for scene, measures in results.items():
        for measure, systems in measures.items():
            lines += ["", f"{scene}: {measure}"]
            ours = statistics.median(systems[OURS]) if systems.get(OURS) else None
            lines += [_row(name, figures, ours) for name, figures in systems.items()]
    lines += ["", *(f"{name}: {why}" for name, why in without.items())]
    return "\n".join(lines)


def _row(name: str, figures: list[float], ours: float | None) -> str:
    median = statistics.median(figures)
    spread = f"({_number(min(figures))}-{_number(max(figures))})"
    ratio = f"ours/this {ours / median:8.2f}" if ours and name != OURS else ""
    return f"  {name:16}{_number(median):>10}  {spread:22}{ratio:22}{SYSTEMS[name].about}"


def _number(figure: float) -> str:
    return f"{figure:,.0f}" if figure >= 100 else f"{figure:.2f}"


def medians(results: Results) -> dict[str, dict[str, dict[str, float]]]:
    """The same tree with one figure each."""
    return {
        scene: {
            measure: {name: statistics.median(figures) for name, figures in systems.items()}
            for measure, systems in measures.items()
        }
        for scene, measures in results.items()
    }
