"""What a command line asks of the engine, and the answer: the inventory of one commit, or how two commits differ."""

import json
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from testlist.engine import inventory
from testlist.errors import InventoryError
from testlist.git.fetch import Source, common_ancestor, fetched, resolve
from testlist.git.revisions import range_of
from testlist.git.worktree import changed
from testlist.model import Inventory
from testlist.progress import Checkpoint, silent
from testlist.reports.compare import Comparison, compare, listed
from testlist.reports.listing import comparison, render, skipped
from testlist.sandbox.process import NoSandbox

#: exit codes: as `git diff --exit-code`, and one for what could not be compared
DIFFERENT, NOT_COMPARED = 1, 3


@dataclass(frozen=True, slots=True)
class CommandArguments:
    """What a command line asks for.  commit: None is HEAD; other: a commit to compare with, or a range.

    exit_code: whether the exit code says that tests differ.
    """

    commit: str | None = None
    other: str | None = None
    form: str = "table"
    exit_code: bool = False

    @property
    def mistake(self) -> str | None:
        """Why it cannot be answered, if so."""
        if self.other is None:
            return "--exit-code needs --compare." if self.exit_code else None
        if self.commit is not None and range_of(self.other) is not None:
            return "--compare with a range names both commits: leave --commit out."
        return "--compare needs --format table or json." if self.form == "jsonl" else None

    @property
    def failure(self) -> int:
        """The exit code if it cannot be answered."""
        return NOT_COMPARED if self.exit_code else 1


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command.  text: for stdout, piece by piece; code: the exit code."""

    text: Iterable[str]
    code: int = 0


def source_at(path_or_url: str) -> Source:
    """A repository on this machine, or at an https address.  Raises: InventoryError."""
    path = Path(path_or_url)
    if path.is_dir():
        return Source.local(path)
    if "://" not in path_or_url:
        what = "is a file, not a repository" if path.exists() else "does not exist"
        raise InventoryError("repository_not_found", f"The path {path_or_url!r} {what}.")
    return Source.remote(path_or_url)


def taken(source: Source, arguments: CommandArguments, checkpoint: Checkpoint = silent) -> list[Inventory]:
    """The inventory that is asked for, or the two.  Raises: InventoryError, NoSandbox."""
    wanted = range_of(arguments.other) if arguments.other is not None else None
    if wanted is not None:
        before, after = (resolve(source, side, checkpoint=checkpoint)[0] for side in wanted[:2])
        if wanted.from_base:
            before = common_ancestor(source, (before, after), checkpoint=checkpoint)
        return [_take(source, commit, checkpoint) for commit in (before, after)]
    commits = [arguments.commit] if arguments.other is None else [arguments.commit, arguments.other]
    return [_take(source, commit, checkpoint) for commit in commits]


def answer(found: Sequence[Inventory], arguments: CommandArguments) -> Answer:
    """What is printed, and the exit code."""
    if len(found) == 1:
        return Answer(render(found[0], arguments.form))
    before, after = found
    changes = compare(listed(before), listed(after))
    differs = arguments.exit_code and any(count for name, count in changes.totals().items() if name != "unchanged")
    return Answer([_compared(changes, before, after, arguments.form)], DIFFERENT if differs else 0)


def left_out(source: Source, arguments: CommandArguments, found: Sequence[Inventory]) -> Iterator[str]:
    """A line for stderr if HEAD was read, by whatever name, where the work tree differs from it."""
    if source.path is None:
        return
    head = found[0].commit  # as it is nearly always, so that no git has to be asked
    if arguments.commit is not None or range_of(arguments.other or "") is not None:
        try:
            head, _ = resolve(source, None)
        except InventoryError:  # HEAD is of a branch without commits
            return
    if any(one.commit == head for one in found) and (count := changed(source.path, head)):
        files = "1 changed file is" if count == 1 else f"{count} changed files are"
        yield f"{files} not read: this is commit {head[:10]}, not the work tree"


def unread(found: Iterable[Inventory]) -> Iterator[str]:
    """The lines for stderr: files that were not read, each once."""
    yield from (f"skipped {line}" for line in dict.fromkeys(line for one in found for line in skipped(one)))


def run(path_or_url: str, arguments: CommandArguments) -> tuple[int, str | None]:
    """Answer on stdout, with the unread files on stderr.  -> the exit code, and what went wrong, if something did."""
    try:
        source = source_at(path_or_url)
        found = taken(source, arguments)
    except InventoryError as error:
        return arguments.failure, f"{error.message} ({error.code})"
    except NoSandbox as reason:
        said = f"no sandbox is available for git and the parsers: {reason}; --no-sandbox runs them without one"
        return arguments.failure, said
    answered = answer(found, arguments)
    sys.stdout.writelines(answered.text)
    sys.stdout.flush()
    sys.stderr.writelines(f"{line}\n" for line in (*left_out(source, arguments, found), *unread(found)))
    return answered.code, None


def _take(source: Source, ref: str | None, checkpoint: Checkpoint) -> Inventory:
    with tempfile.TemporaryDirectory(prefix="testlist-") as workdir:
        commit, _ = resolve(source, ref, checkpoint=checkpoint)
        with fetched(source, commit, workdir=Path(workdir), checkpoint=checkpoint) as repository:
            return inventory(repository)


def _compared(changes: Comparison, before: Inventory, after: Inventory, form: str) -> str:
    if form == "table":
        return comparison(changes)
    commits = {"before": before.commit, "after": after.commit}
    return f"{json.dumps(commits | changes.document(), ensure_ascii=False, indent=1)}\n"
