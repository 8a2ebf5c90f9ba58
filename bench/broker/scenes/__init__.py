"""What is measured.  Each step starts from empty tables and gives figures by the name of their measure."""

from bench.broker.scenes import drain, latency, publish
from bench.broker.scenes.step import Step

SCENES: dict[str, tuple[Step, ...]] = {
    "drain": drain.STEPS,
    "latency": latency.STEPS,
    "publish": publish.STEPS,
}

__all__ = ["SCENES", "Step"]
