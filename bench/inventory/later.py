"""One commit later, in the running service: what a worker takes and writes for the first commit and for the next."""

import json
import statistics
import subprocess
import tempfile
from contextlib import closing
from pathlib import Path

import psycopg2
import psycopg2.extensions

from app import embedded
from bench.inventory.commits import next_commit
from bench.service import Service, make_repository, running

#: rows that a result is made of
TABLES = ("blob_facts", "file_inventories", "file_lists", "file_list_entries", "analysis_file_lists")
SECONDS = """
    SELECT extract(epoch FROM max(at) FILTER (WHERE event = 'completed') - max(at) FILTER (WHERE event = 'started'))
      FROM job_events WHERE job_id = %s"""
#: commits after the first, each changing another file
COMMITS = 5


def measure(path: str, commit: str, files: list[str]) -> dict[str, float]:
    """Medians over COMMITS.  files: paths with tests, of which the first ones are changed."""
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-") as folder:
        Path(folder).chmod(0o755)
        clone = Path(folder) / "repositories" / "one"
        subprocess.run(["git", "clone", "--quiet", "--bare", path, str(clone)], check=True, capture_output=True)
        (commit_of_warm,) = make_repository(clone.parent / "warm", 1)  # the worker's first job imports the engine
        with (
            running(clone.parent) as service,
            closing(psycopg2.connect(embedded.ensure(service.home).url.replace("+psycopg2", ""))) as connection,
        ):
            connection.autocommit = True
            _analyse(service, connection, "warm", commit_of_warm)
            first = _measured(service, connection, commit)
            later = []
            for file in files[:COMMITS]:
                commit = next_commit(clone, commit, file)
                later.append(_measured(service, connection, commit))
    seconds, rows = statistics.median(one[0] for one in later), statistics.median(one[1] for one in later)
    return {
        "first commit s": first[0],
        "first commit, rows": first[1],
        "next commit s": seconds,
        "next commit, % of s": 100 * seconds / first[0],
        "next commit, rows": rows,
        "next commit, % of rows": 100 * rows / first[1],
    }


def _measured(service: Service, connection: psycopg2.extensions.connection, commit: str) -> tuple[float, int]:
    before = _rows(connection)
    return _analyse(service, connection, "one", commit), _rows(connection) - before


def _analyse(service: Service, connection: psycopg2.extensions.connection, name: str, commit: str) -> float:
    """Seconds from the worker's start to its end, by the job's timeline."""
    said = json.loads(service.fairlane("submit", f"local:{name}", "--commit", commit, "--wait", "--json"))
    with connection.cursor() as cursor:
        cursor.execute(SECONDS, (said["id"],))
        (seconds,) = cursor.fetchone() or (0,)
    return float(seconds)


def _rows(connection: psycopg2.extensions.connection) -> int:
    with connection.cursor() as cursor:
        cursor.execute("SELECT " + " + ".join(f"(SELECT count(*) FROM {table})" for table in TABLES))
        (rows,) = cursor.fetchone() or (0,)
    return int(rows)


def _url(service: Service) -> str:
    return embedded.ensure(service.home).url.replace("+psycopg2", "")
