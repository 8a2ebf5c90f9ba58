"""Run every scene in turns, ours and stock, and print medians and ratios; the last line is JSON."""

import argparse
import json
import statistics
import tempfile
import warnings
from collections import defaultdict
from pathlib import Path

import psycopg2

import tasks.broker  # noqa: F401  registers the transport
from app import embedded
from bench.broker.scenes import Subject, drain, idle, publish, publish_in_transaction
from tasks.broker.schema import create_tables

#: A higher figure is better for these, a lower one for the others.
RATES = ("publish/s", "drain/s c=2", "drain/s c=8")


def main() -> None:
    """Measure."""
    parser = argparse.ArgumentParser(prog="python -m bench.broker", description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=10_000, help="of a drain")
    parser.add_argument("--stock-jobs", type=int, default=1_500, help="of a drain with the stock transport")
    given = parser.parse_args()
    warnings.filterwarnings("ignore", message="The ``noload``")  # kombu's models on SQLAlchemy 2.1
    figures: dict[str, dict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    with tempfile.TemporaryDirectory(prefix="broker-bench-") as folder:
        Path(folder).chmod(0o755)
        home = Path(folder) / "home"
        server = embedded.ensure(home)
        try:
            subjects = _subjects(server.admin_url, Path(folder), given.jobs, given.stock_jobs)
            for number in range(given.rounds):
                for subject in subjects:
                    print(f"round {number + 1} {subject.name}", flush=True)
                    _measure(subject, figures[subject.name])
        finally:
            embedded.stop(home)
    _report(figures, server.version)


def _subjects(admin_url: str, folder: Path, jobs: int, stock_jobs: int) -> list[Subject]:
    base = admin_url.replace("postgresql+psycopg2:", "postgresql:").rpartition("/")[0]
    admin = psycopg2.connect(f"{base}/postgres")
    admin.autocommit = True
    for name in ("ours", "stock"):
        admin.cursor().execute(f"CREATE DATABASE {name}")
    admin.close()
    ours = psycopg2.connect(f"{base}/ours")
    with ours, ours.cursor() as cursor:
        create_tables(cursor)
    ours.close()
    driver = base.replace("postgresql:", "postgresql+psycopg2:")
    return [
        Subject("ours", f"durable+{driver}/ours", f"{base}/ours", jobs, folder / "runs" / "ours"),
        Subject("stock", f"sqla+{driver}/stock", f"{base}/stock", stock_jobs, folder / "runs" / "stock"),
    ]


def _measure(subject: Subject, into: dict[str, list[float]]) -> None:
    into["publish/s"].append(publish(subject))
    for processes in (2, 8):
        into[f"drain/s c={processes}"].append(drain(subject, processes))
    p50, p99 = idle(subject, 100 if subject.name == "ours" else 30)
    into["idle start p50 ms"].append(p50)
    into["idle start p99 ms"].append(p99)
    if subject.name == "ours":
        into["publish in transaction ms"].append(publish_in_transaction(subject))


def _report(figures: dict[str, dict[str, list[float]]], version: str) -> None:
    print(f"\nPostgreSQL {version}, fsync on; medians (min-max)")
    medians = {
        subject: {name: statistics.median(values) for name, values in measured.items()}
        for subject, measured in figures.items()
    }
    for name, values in figures["ours"].items():
        line = f"{name:28}{_spread(values)}"
        if stock := figures["stock"].get(name):
            ratio = medians["ours"][name] / medians["stock"][name]
            line += f"   stock {_spread(stock)}   {ratio if name in RATES else 1 / ratio:6.1f} times better"
        print(line)
    print(json.dumps(medians))


def _spread(values: list[float]) -> str:
    return f"{statistics.median(values):9.2f} ({min(values):.2f}-{max(values):.2f})"


if __name__ == "__main__":
    main()
