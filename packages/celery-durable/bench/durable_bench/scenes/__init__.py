"""What is measured.  Each step starts from empty tables and gives figures by the name of their measure."""

from durable_bench.scenes import backlog, drain, idle_cost, kill, latency, memory, pinned, publish, slow_disk
from durable_bench.scenes.step import Step

SCENES: dict[str, tuple[Step, ...]] = {
    "drain": drain.STEPS,
    "latency": latency.STEPS,
    "publish": publish.STEPS,
    "backlog": backlog.STEPS,
    "pinned": pinned.STEPS,
    "idle": idle_cost.STEPS,
    "slow-disk": slow_disk.STEPS,
    "memory": memory.STEPS,
    "kill": kill.STEPS,
}
#: Those of a run without --scenes; the others take minutes for each system.
SHORT = ("drain", "latency", "publish")

__all__ = ["SCENES", "SHORT", "Step"]
