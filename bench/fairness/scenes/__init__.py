"""What is measured.  Each scene has a database of its own, and gives figures by the name of their measure."""

from collections.abc import Callable, Mapping

from bench.fairness.scenes import backlog, estimates, flood, herd, lending, priority, release, seconds, zipf
from bench.fairness.scenes.figures import Figures

#: Sizes by name, from the command line.  -> figures
Scene = Callable[[Mapping[str, int]], Figures]

SCENES: dict[str, Scene] = {
    "flood": flood.measure,
    "seconds": seconds.measure,
    "backlog": backlog.measure,
    "release": release.measure,
    "zipf": zipf.measure,
    "herd": herd.measure,
    "priority": priority.measure,
    "lending": lending.measure,
    "estimates": estimates.measure,
}

__all__ = ["SCENES", "Scene"]
