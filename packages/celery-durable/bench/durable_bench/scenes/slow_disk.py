"""The drain on a disk whose fsync takes a millisecond."""

from collections.abc import Iterator
from contextlib import contextmanager

from durable_bench.bench import Bench
from durable_bench.scenes.drain import drain
from durable_bench.scenes.step import Figures, Step
from durable_bench.systems import System

#: Each commit waits so long before it flushes, whoever else commits; microseconds.
SETTINGS = {"commit_delay": "1000", "commit_siblings": "0"}


@contextmanager
def slow_disk(bench: Bench) -> Iterator[None]:
    """Make commits slow until the end of the block."""
    for name, value in SETTINGS.items():
        bench.postgres.run(f"ALTER SYSTEM SET {name} = {value}")
    bench.postgres.run("SELECT pg_reload_conf()")
    try:
        yield
    finally:
        for name in SETTINGS:
            bench.postgres.run(f"ALTER SYSTEM RESET {name}")
        bench.postgres.run("SELECT pg_reload_conf()")


def _step(processes: int) -> Step:
    def run(bench: Bench, system: System) -> Figures:
        with slow_disk(bench):
            return {f"c={processes}, jobs/s": drain(bench, system, processes)}

    return Step(f"c={processes}", run, lambda system: system.store == "postgres")


STEPS = (_step(2), _step(8))
