"""The longest wait of a write while a large table gets an index: by the migrations, and the plain way as a control."""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from threading import Event

from alembic import command
from alembic.config import Config
from sqlalchemy import Engine, create_engine, pool, text

from app import embedded
from app import migrate as migrating

BEFORE = "0046"
#: As the next migration would be without CONCURRENTLY.
PLAIN = (
    "CREATE INDEX analysis_requests_carried ON analysis_requests (job_id, carried_at DESC) WHERE carried_at IS NOT NULL"
)
CODEBASE = text("""
    INSERT INTO codebases (id, host, owner, name, created_at)
    VALUES (gen_random_uuid(), 'github.com', 'acme', 'shop', now())""")
_REQUEST = """
    INSERT INTO analysis_requests (job_id, codebase_id, commit_sha, role, trigger, queue, requested_at, carried_at)
    SELECT gen_random_uuid(), c.id, '', 'payer', 'scheduled', 'analysis_scheduled', now(),
           CASE WHEN n % 10 = 0 THEN now() - n * interval '1 ms' END
      FROM codebases c, generate_series(1, {rows}) n"""
FILL, WRITE = text(_REQUEST.format(rows=":rows")), text(_REQUEST.format(rows="1"))
PART = 1_000_000


def main() -> None:
    """Fill, build in both ways beside a writer, and print its longest wait; fail if the migrations' is no better."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=10_000_000)
    rows = parser.parse_args().rows
    with _server() as engine:
        _upgrade(engine, BEFORE)
        with engine.begin() as connection:
            connection.execute(CODEBASE)
            # not checked row by row, which would take most of the time
            connection.execute(text("ALTER TABLE analysis_requests DROP CONSTRAINT analysis_requests_codebase_id_fkey"))
            for _ in range(0, rows, PART):
                connection.execute(FILL, {"rows": min(PART, rows)})
        _vacuum(engine)
        print(f"{rows:,} rows in analysis_requests", flush=True)
        _waited("no migration", engine, lambda: time.sleep(5))
        plain = _waited("plain CREATE INDEX", engine, lambda: _run(engine, PLAIN))
        _run(engine, "DROP INDEX analysis_requests_carried")
        name = f"fairlane migrate, {BEFORE} to {migrating.head_revision()}"
        online = _waited(name, engine, lambda: migrating.migrate(engine))
    if online > plain / 2:
        sys.exit(
            f"a write waited {online:.3f} s for the migrations, and {plain:.3f} s the plain way: it should be half"
        )


def _waited(what: str, engine: Engine, work: Callable[[], object]) -> float:
    """Work beside a writer.  -> the longest wait of a write, in seconds."""
    over = Event()
    with ThreadPoolExecutor(1) as thread:
        writer = thread.submit(_write, engine, over)
        began = time.perf_counter()
        work()
        took = time.perf_counter() - began
        over.set()
        waits = sorted(writer.result())
    middle = waits[len(waits) // 2]
    print(
        f"{what}: {took:.1f} s, {len(waits)} writes, median {1000 * middle:.1f} ms, longest {waits[-1]:.3f} s",
        flush=True,
    )
    return waits[-1]


def _write(engine: Engine, over: Event) -> list[float]:
    waits = []
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        while not over.is_set():
            began = time.perf_counter()
            connection.execute(WRITE)
            waits.append(time.perf_counter() - began)
            over.wait(0.005)
    return waits


@contextmanager
def _server() -> Iterator[Engine]:
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-", ignore_cleanup_errors=True) as folder:
        Path(folder).chmod(0o755)
        with embedded.hold(Path(folder) / "home") as server:
            engine = create_engine(server.owner_url, poolclass=pool.NullPool)
            yield engine
            engine.dispose()


def _upgrade(engine: Engine, revision: str) -> None:
    config = Config()
    config.set_main_option("script_location", str(files("migrations")))
    with engine.connect() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)


def _vacuum(engine: Engine) -> None:
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        connection.execute(text("VACUUM ANALYZE analysis_requests"))


def _run(engine: Engine, statement: str) -> None:
    with engine.begin() as connection:
        connection.execute(text(statement))


if __name__ == "__main__":
    main()
