"""Measure the accept, print what was found, and as the last line JSON."""

import argparse
import json
from collections.abc import Callable
from pathlib import Path

from bench.accept import parts, rate, service
from bench.endings import end_in_order


def main() -> None:
    """Run the scenes asked for."""
    parser = argparse.ArgumentParser(prog="python -m bench.accept", description=__doc__)
    scenes: dict[str, Callable[[argparse.Namespace], dict[str, float]]] = {
        "rate": lambda given: rate.measure(given.rounds, given.seconds),
        "parts": lambda given: parts.cost(given.rounds),
        "full": lambda given: parts.full(given.rounds),
        "service": lambda given: service.measure(),  # noqa: ARG005 - as many as it always does
    }
    parser.add_argument("--scenes", nargs="+", choices=scenes, default=["rate", "parts", "service"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=6.0, help="of each turn of `rate`")
    parser.add_argument("--json", type=Path, help="where the figures are written")
    given = parser.parse_args()
    end_in_order()
    figures: dict[str, dict[str, float]] = {}
    for name in given.scenes:
        print(name, flush=True)
        figures[name] = scenes[name](given)
        for what, figure in figures[name].items():
            print(f"  {what:40} {figure:10.2f}")
    if given.json:
        given.json.write_text(json.dumps(figures, indent=1))
    print(json.dumps(figures))


if __name__ == "__main__":
    main()
