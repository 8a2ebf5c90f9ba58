"""One step of a scene: what runs for one system between two turns of the others."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from durable_bench.bench import Bench
from durable_bench.systems import System

#: measure -> figure; its unit is in its name.
Figures = Mapping[str, float]


def every(_: System) -> bool:
    """Every system."""
    return True


def with_broker(system: System) -> bool:
    """Every system that has a queue."""
    return system.store != "memory"


@dataclass(frozen=True)
class Step:
    """name: shown while it runs; applies: to which systems."""

    name: str
    run: Callable[[Bench, System], Figures]
    applies: Callable[[System], bool] = every
