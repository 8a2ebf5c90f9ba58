"""How long `fairlane up` takes until it serves: the first time (initdb, migrations) and after that."""

import json
import statistics
import tempfile
import time
from pathlib import Path

from app import embedded
from bench.service import running

ROUNDS = 5


def main() -> None:
    """Print medians of ROUNDS rounds, in seconds."""
    first, again, cold, warm = [], [], [], []
    for _ in range(ROUNDS):
        with tempfile.TemporaryDirectory(prefix="fairlane-bench-") as folder:
            Path(folder).chmod(0o755)
            home = Path(folder) / "home"
            with running(home=home) as service:
                first.append(service.seconds)
            with running(home=home) as service:
                again.append(service.seconds)
            began = time.monotonic()
            embedded.ensure(Path(folder) / "other")
            cold.append(time.monotonic() - began)
            began = time.monotonic()
            embedded.ensure(Path(folder) / "other")
            warm.append(time.monotonic() - began)
            embedded.stop(Path(folder) / "other")
    figures = {
        "up, first start, until ready": first,
        "up, later start, until ready": again,
        "embedded PostgreSQL, cold": cold,
        "embedded PostgreSQL, warm": warm,
    }
    for name, seconds in figures.items():
        print(
            f"{name:32} median {statistics.median(seconds):6.2f} s   min {min(seconds):6.2f}   max {max(seconds):6.2f}"
        )
    print(json.dumps({name: statistics.median(seconds) for name, seconds in figures.items()}))


if __name__ == "__main__":
    main()
