"""What a command line asks of the engine, and the answer: the inventory of one commit, or how two commits differ."""

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
from testlist.reports.listing import comparison, render, skipped
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


def run(path_or_url: str, asked: Asked) -> str | None:
    """Answer on stdout, with the unread files on stderr.  Returns what went wrong, if something did."""
    path = Path(path_or_url)
    try:
        found = taken(Source.local(path) if path.is_dir() else Source.remote(path_or_url), asked)
    except InventoryError as error:
        return f"{error.message} ({error.code})"
    except NoSandbox as reason:
        return f"no sandbox is available for git and the parsers: {reason}; --no-sandbox runs them without one"
    sys.stdout.writelines(answer(found, asked))
    sys.stdout.flush()
    sys.stderr.writelines(f"{line}\n" for line in unread(found))
    return None


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
