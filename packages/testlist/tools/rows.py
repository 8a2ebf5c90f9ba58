"""Print everything an inventory says, one JSON object a line, so that two revisions can be compared with `diff`.

`python packages/testlist/tools/rows.py REPOSITORY [COMMIT] > before.jsonl`.  A line for each test, in the order of the
listing; then one for each candidate file with its framework, the reason why it was not read, and its hints; then the
totals.  The parser version is left out, as it changes with releases that change no row.
"""

import json
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from testlist import Inventory, Source, fetched, inventory, resolve


def lines(found: Inventory) -> Iterator[dict[str, object]]:
    """Every test, every candidate file, and the totals."""
    yield from (test.row() for test in found.tests)
    for file in found.files:
        yield {
            "path": file.path,
            "blob_id": file.blob_id,
            "majority": file.framework,
            "skipped": file.skipped,
            "hints": list(file.hints),
        }
    yield {"commit": found.commit, "summary": found.summary()}


def main(repository: str, ref: str | None = None) -> None:
    """Take the inventory of one commit of a local repository and print it."""
    source = Source.local(Path(repository))
    commit, _ = resolve(source, ref)
    with tempfile.TemporaryDirectory() as workdir, fetched(source, commit, workdir=Path(workdir)) as repo:
        found = inventory(repo)
    for line in lines(found):
        print(json.dumps(line, sort_keys=True))


if __name__ == "__main__":
    main(*sys.argv[1:])
