"""One commit later, in the running service: what a worker takes and writes for the first commit and for the next.

Processor time is that of the node, its children, git and the parsers, so it includes what an idle node does meanwhile.
"""

import json
import os
import statistics
import subprocess
import tempfile
from contextlib import closing, suppress
from pathlib import Path
from typing import Final, NamedTuple

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
#: the node that analyses, by a word of its command
NODE: Final = b"analysis_default"
TICKS: Final = os.sysconf("SC_CLK_TCK")
#: commits after the first, each changing another file
COMMITS = 5


class Taken(NamedTuple):
    """What one analysis took: seconds, those of processors, and rows that are new."""

    seconds: float
    processor: float
    rows: int


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
                # as a push does; a commit that no branch has is looked for in the history of HEAD, 20,000 commits
                subprocess.run(["git", "-C", clone, "update-ref", "HEAD", commit], check=True)
                later.append(_measured(service, connection, commit))
    figures: dict[str, float] = {}
    for what, name in enumerate(("s", "processor s", "rows")):
        middle = statistics.median(one[what] for one in later)
        figures |= {f"first commit, {name}": first[what], f"next commit, {name}": middle}
        figures[f"next commit, % of {name}"] = 100 * middle / first[what]
    return figures


def _measured(service: Service, connection: psycopg2.extensions.connection, commit: str) -> Taken:
    rows, processor = _rows(connection), _processor(service.pid)
    seconds = _analyse(service, connection, "one", commit)
    return Taken(seconds, _processor(service.pid) - processor, _rows(connection) - rows)


def _processor(pid: int) -> float:
    """Seconds of processors of the node below a process, with its children and those of them that ended."""
    below: dict[int, list[int]] = {}
    ticks: dict[int, int] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            parts = (folder / "stat").read_text().rpartition(")")[2].split()
            below.setdefault(int(parts[1]), []).append(int(folder.name))
            ticks[int(folder.name)] = sum(map(int, parts[11:15]))
    todo, found = [(pid, False)], 0
    while todo:
        one, counts = todo.pop()
        with suppress(OSError):
            counts = counts or NODE in Path(f"/proc/{one}/cmdline").read_bytes()
        found += ticks.get(one, 0) if counts else 0
        todo += [(child, counts) for child in below.get(one, ())]
    return found / TICKS


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
