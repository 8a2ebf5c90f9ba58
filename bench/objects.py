"""Facts as rows, in files and in a bucket: `python -m bench.objects REPOSITORY [--commits N] [--bucket URL]`.

Takes the newest commits of a repository, each a whole run with what the ones before have left, as one that adds a file
is.  Prints what the cache of facts took, and what is in the database and outside of it.  URL: as OBJECT_STORE_URL.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median

from testlist import Facts, FactsKey, Source, fetched, inventory

from app import embedded
from app.adapters.object_store import objects_of
from app.domain.objects import Objects
from app.services.analyses.known_facts import KnownFacts
from app.settings import load
from app.store.core.unit_of_work import UnitOfWork
from bench.maintenance.filled import make, run, used

BYTES = """
    SELECT coalesce(sum(pg_total_relation_size(oid)) FILTER (WHERE relname = 'blob_facts'), 0),
           coalesce(sum(pg_total_relation_size(oid)) FILTER (WHERE relname IN ('packed_facts', 'stored_objects')), 0),
           (SELECT coalesce(sum(size), 0) FROM stored_objects), (SELECT count(*) FROM stored_objects)
      FROM pg_class WHERE relkind = 'r'"""


@dataclass
class Timed:
    """The engine's cache.  loads, stores: milliseconds of each commit."""

    known: KnownFacts
    loads: list[float] = field(default_factory=list)
    stores: list[float] = field(default_factory=list)

    def load(self, keys: Sequence[FactsKey]) -> dict[FactsKey, Facts]:
        """Load facts, as FactsCache does."""
        began = time.perf_counter()
        found = {FactsKey(blob_id, language): dict(facts) for blob_id, language, facts in self.known.load(keys)}
        self.loads[-1] += 1000 * (time.perf_counter() - began)
        return found

    def store(self, facts: Mapping[FactsKey, Facts]) -> None:
        """Store facts, as FactsCache does."""
        began = time.perf_counter()
        self.known.store({(key.blob_id, key.language): one for key, one in facts.items()})
        self.stores[-1] += 1000 * (time.perf_counter() - began)


def main() -> None:
    """Take the commits with each kind of store."""
    parser = argparse.ArgumentParser(prog="python -m bench.objects", description=__doc__)
    parser.add_argument("repository", type=Path)
    parser.add_argument("--commits", type=int, default=20)
    parser.add_argument("--bucket")
    given = parser.parse_args()
    log = ["git", "-C", given.repository, "log", "--first-parent", "--format=%H", f"--max-count={given.commits}"]
    commits = subprocess.run(log, check=True, capture_output=True, text=True).stdout.split()[::-1]
    with tempfile.TemporaryDirectory(prefix="fairlane-bench-") as folder:
        Path(folder).chmod(0o755)
        stores = {"rows": None, "files": objects_of(load({"FAIRLANE_HOME": f"{folder}/of-files"}))}
        if given.bucket:
            stores["bucket"] = objects_of(load({"OBJECT_STORE_URL": given.bucket}))
        with embedded.hold(Path(folder) / "home") as server:
            for name, objects in stores.items():
                make(server, name, {})
                with used(server, name) as uow:
                    timed = _taken(uow, objects, given.repository, commits, Path(folder) / "work")
                rows = run(server.admin_url, "VACUUM FULL", BYTES, database=name)
                _tell(name, timed, [int(str(one)) for one in rows[0]])


def _taken(uow: UnitOfWork, objects: Objects | None, repository: Path, commits: list[str], workdir: Path) -> Timed:
    timed = Timed(KnownFacts(uow, "1", uow.now, objects))
    for commit in commits:
        timed.loads.append(0)
        timed.stores.append(0)
        with fetched(Source.local(repository), commit, workdir=workdir) as opened:
            inventory(opened, cache=timed, checks=True)
    return timed


def _tell(name: str, timed: Timed, sizes: list[int]) -> None:
    inside, index, outside, count = sizes
    first, later = timed.stores[0], [sum(both) for both in zip(timed.loads[1:], timed.stores[1:], strict=True)]
    print(
        f"{name}: first commit {first:.0f} ms, later ones {median(later):.0f} ms (most {max(later):.0f});"
        f" kB of facts as rows {inside / 1000:,.0f}, of their index {index / 1000:,.0f}, in {count} objects"
        f" {outside / 1000:,.0f}",
        flush=True,
    )


if __name__ == "__main__":
    main()
