"""`testlist PATH_OR_URL`: the inventory of one commit on the command line, or how two commits differ."""

import argparse
import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from testlist.engine import inventory
from testlist.errors import InventoryError
from testlist.git.fetch import Source, fetched, resolve
from testlist.model import Inventory
from testlist.progress import Checkpoint, silent
from testlist.reports.compare import compare, listed
from testlist.reports.listing import FORMATS, comparison, render, skipped
from testlist.sandbox import guard
from testlist.sandbox.process import NoSandbox


@dataclass(frozen=True, slots=True)
class Asked:
    """What a command line asks for.  commit: None is HEAD; other: a commit to compare with."""

    commit: str | None = None
    other: str | None = None
    form: str = "table"

    @property
    def mistake(self) -> str | None:
        """Why it cannot be answered, if so."""
        return "--compare needs --format table or json." if self.other is not None and self.form == "jsonl" else None


def taken(source: Source, asked: Asked, checkpoint: Checkpoint = silent) -> list[Inventory]:
    """The inventory that is asked for, or the two.  Raises: InventoryError, NoSandbox."""
    commits = [asked.commit] if asked.other is None else [asked.commit, asked.other]
    return [_take(source, commit, checkpoint) for commit in commits]


def answer(found: Sequence[Inventory], asked: Asked) -> Iterable[str]:
    """The text for stdout, piece by piece."""
    return render(found[0], asked.form) if len(found) == 1 else [_compared(found[0], found[1], asked.form)]


def unread(found: Iterable[Inventory]) -> Iterator[str]:
    """The lines for stderr: files that were not read, each once."""
    yield from (f"skipped {line}" for line in dict.fromkeys(line for one in found for line in skipped(one)))


def main(argv: Sequence[str] | None = None) -> int:
    """Answer one command line; the exit code."""
    parser = argparse.ArgumentParser(
        "testlist", description="List the tests of a Git repository, without running them."
    )
    parser.add_argument("path_or_url", help="a repository on this machine, or its https address")
    parser.add_argument("--commit", help="a commit, branch or tag; default: HEAD")
    parser.add_argument("--compare", help="show how the tests differ between the commit and this one")
    parser.add_argument("--format", choices=FORMATS, default="table")
    parser.add_argument("--no-sandbox", action="store_true", help="run git and the parsers without a sandbox")
    given = parser.parse_args(argv)
    asked = Asked(given.commit, given.compare, given.format)
    if asked.mistake is not None:
        parser.error(asked.mistake)
    guard.use_sandbox(on=not given.no_sandbox)
    try:
        path = Path(given.path_or_url)
        found = taken(Source.local(path) if path.is_dir() else Source.remote(given.path_or_url), asked)
    except InventoryError as error:
        return _failed(f"{error.message} ({error.code})")
    except NoSandbox as reason:
        return _failed(f"no sandbox is available for git and the parsers: {reason}; --no-sandbox runs them without one")
    sys.stdout.writelines(answer(found, asked))
    sys.stdout.flush()
    sys.stderr.writelines(f"{line}\n" for line in unread(found))
    return 0


def _take(source: Source, ref: str | None, checkpoint: Checkpoint) -> Inventory:
    with tempfile.TemporaryDirectory(prefix="testlist-") as workdir:
        commit, _ = resolve(source, ref, checkpoint=checkpoint)
        with fetched(source, commit, workdir=Path(workdir), checkpoint=checkpoint) as repository:
            return inventory(repository)


def _compared(before: Inventory, after: Inventory, form: str) -> str:
    found = compare(listed(before), listed(after))
    if form == "table":
        return comparison(found)
    commits = {"before": before.commit, "after": after.commit}
    return f"{json.dumps(commits | found.document(), ensure_ascii=False, indent=1)}\n"


def _failed(said: str) -> int:
    sys.stderr.write(f"testlist: {said}\n")
    return 1
