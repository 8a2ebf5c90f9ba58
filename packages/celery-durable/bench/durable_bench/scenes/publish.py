"""Messages a second: each in a transaction of its own, and many in one."""

from durable_bench.bench import Bench
from durable_bench.scenes.step import Figures, Step, with_broker
from durable_bench.systems import System

COUNT = 1000


def _step(name: str, command: str, *names: str) -> Step:
    def run(bench: Bench, system: System) -> Figures:
        bench.fresh(system)
        if command.startswith("bound"):  # for the queue
            bench.client(system, "publish", 1)
        seconds = bench.client(system, command, COUNT)
        return {f"{name}, msg/s": COUNT / seconds} if seconds else {}

    return Step(name, run, (lambda system: system.name in names) if names else with_broker)


STEPS = (
    _step("one a transaction", "publish"),
    _step("its bound: built by Celery, a plain INSERT", "bound", "ours"),
    _step("1,000 in one", "many", "ours", "procrastinate", "pgqueuer", "oban", "raw"),
    _step("its bound: plain INSERTs of the same rows", "bound_many", "ours"),
    _step("1,000 in one by send_task, batch", "bulk", "ours"),
    _step("1,000 in one by send_task, one by one", "joined", "ours"),
)
