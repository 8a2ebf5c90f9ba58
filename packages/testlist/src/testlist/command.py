"""What a command line asks of the engine, and the answer: the inventory of one commit, or how two commits differ."""

import json
import os
import sys
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from testlist import debugging
from testlist.arguments import FOUND, WRONG_USAGE, CommandArguments
from testlist.disk_cache import DiskCache
from testlist.engine import inventory
from testlist.errors import InventoryError
from testlist.git.around import around
from testlist.git.commits import root_of
from testlist.git.fetch import Source, common_ancestor, fetched, resolve
from testlist.git.repository import Repository
from testlist.git.revisions import range_of
from testlist.git.snapshot import snapshot
from testlist.git.worktree import changed
from testlist.model import Inventory
from testlist.output import write
from testlist.progress import Checkpoint, silent
from testlist.reports.compare import Comparison, compare, listed
from testlist.reports.formats import COMPLETE, render
from testlist.reports.listing import SCHEMA_VERSION, comparison, skipped
from testlist.reports.listing import unread as unread_languages
from testlist.reports.selection import UsageError
from testlist.sandbox.process import NoSandbox


@dataclass(frozen=True, slots=True)
class Answer:
    """The answer of a command.  text: for stdout, piece by piece; code: the exit code."""

    text: Iterable[str]
    code: int = 0


class Place(NamedTuple):
    """Where the repository is.  within: the folder of it that was named, from its root; empty for the root."""

    source: Source
    within: str = ""


def place_of(path_or_url: str) -> Place:
    """The repository around a folder of this machine, or at an https address.  Raises: InventoryError."""
    path = Path(path_or_url)
    if is_folder(path):
        folder = path.resolve()
        root = around(folder)
        return Place(Source.local(root), "" if root == folder else folder.relative_to(root).as_posix())
    if "://" not in path_or_url:
        what = "is a file, not a repository" if os.path.lexists(path) else "does not exist"
        raise InventoryError("repository_not_found", f"The path {path_or_url!r} {what}.")
    return Place(Source.remote(path_or_url))


def is_folder(path: Path) -> bool:
    """Whether it is one; False for a name that no file can have."""
    with suppress(OSError, ValueError):
        return path.is_dir()
    return False


def taken(source: Source, arguments: CommandArguments, checkpoint: Checkpoint = silent) -> list[Inventory]:
    """The inventory that is asked for, or the two.  Raises: InventoryError, NoSandbox."""
    cache = None if arguments.cache is None else DiskCache(arguments.cache)
    reading = _Reading(source, checkpoint, cache, arguments)
    wanted = range_of(arguments.base) if arguments.base is not None else None
    if wanted is not None:
        before, after = (resolve(source, side, checkpoint=checkpoint)[0] for side in wanted[:2])
        if wanted.from_base:
            before = common_ancestor(source, (before, after), checkpoint=checkpoint)
        return [reading.commit(one) for one in (before, after)]
    found = [] if arguments.base is None else [reading.commit(arguments.base)]
    if arguments.part is not None:
        return [*found, reading.part(arguments.part)]
    return [*found, reading.commit(arguments.commit)]


def answer(selected: Sequence[Inventory], arguments: CommandArguments) -> Answer:
    """What is printed, and the exit code.  selected: what is asked for of the inventory, or of the two."""
    last = selected[-1]
    if len(selected) == 1:
        text, is_found = render(last, arguments.form), bool(last.tests)
    else:
        changes = compare(listed(selected[0]), listed(last))
        is_found = any(count for name, count in changes.totals().items() if name != "unchanged")
        text = iter([_compared(changes, selected[0], last, arguments.form)])
    fails = (
        (arguments.exit_code and is_found)
        or (arguments.fail_on_empty and not last.tests)
        or (arguments.fail_on_skipped and any(file.skipped for one in selected for file in one.files))
    )
    return Answer(text, FOUND if fails else 0)


def left_out(source: Source, arguments: CommandArguments, found: Sequence[Inventory]) -> Iterator[str]:
    """A line for stderr if HEAD was read, by whatever name, where the work tree differs from it."""
    if source.path is None or arguments.part is not None:
        return
    head = found[-1].commit  # as it is nearly always, so that no git has to be asked
    if arguments.commit is not None or range_of(arguments.base or "") is not None:
        try:
            head, _ = resolve(source, None)
        except InventoryError:  # HEAD is of a branch without commits
            return
    if any(one.commit == head for one in found) and (count := changed(source.path, head)):
        files = "1 changed file is" if count == 1 else f"{count} changed files are"
        yield f"{files} not read: this is commit {head[:10]}, not the work tree"


def unread(found: Sequence[Inventory], form: str) -> Iterator[str]:
    """The lines for stderr: files that were not read, each once, and languages, where the format does not say it."""
    yield from (f"skipped {line}" for line in dict.fromkeys(line for one in found for line in skipped(one)))
    if form not in COMPLETE:
        yield from unread_languages(found[-1].unread)


def run(path_or_url: str, arguments: CommandArguments) -> tuple[int, str | None]:
    """Answer on stdout, with the unread files on stderr.  -> the exit code, and what went wrong, if something did."""
    try:
        source, within = place_of(path_or_url)
        selection = arguments.selection(within)
        found = taken(source, arguments)
    except UsageError as error:
        return WRONG_USAGE, str(error)
    except InventoryError as error:
        return arguments.failure, f"{error.message} ({error.code})"
    except NoSandbox as reason:
        said = f"no sandbox is available for git and the parsers: {reason}; --no-sandbox runs them without one"
        return arguments.failure, said
    selected = [selection.applied(one) for one in found]
    answered = answer(selected, arguments)
    if code := write(answered.text):
        return code, None
    sys.stderr.writelines(
        f"{line}\n" for line in (*left_out(source, arguments, found), *unread(selected, arguments.form))
    )
    return answered.code, None


@dataclass(frozen=True, slots=True)
class _Reading:
    """Reads commits of one repository.  cache: what was read before."""

    source: Source
    checkpoint: Checkpoint
    cache: DiskCache | None
    arguments: CommandArguments

    def commit(self, ref: str | None) -> Inventory:
        with tempfile.TemporaryDirectory(prefix="testlist-") as workdir:
            commit, _ = resolve(self.source, ref, checkpoint=self.checkpoint)
            with fetched(self.source, commit, workdir=Path(workdir), checkpoint=self.checkpoint) as repository:
                return self._inventory(repository)

    def part(self, part: str) -> Inventory:
        """What is staged, or the work tree."""
        if self.source.path is None:
            raise InventoryError("commit_not_found", f"--{part} needs a repository on this machine.")
        with (
            tempfile.TemporaryDirectory(prefix="testlist-") as workdir,
            snapshot(self.source.path, part, workdir=Path(workdir), checkpoint=self.checkpoint) as repository,
        ):
            return self._inventory(repository)._replace(commit=part)

    def _inventory(self, repository: Repository) -> Inventory:
        checks = self.arguments.reads_bodies
        if self.arguments.debug:
            debugging.show_failures()
            found = inventory(repository, checks=checks)
            sys.stderr.writelines(debugging.tracebacks(repository, found))
            return found
        if self.cache is None or checks:
            return inventory(repository, cache=self.cache, checks=checks)
        tree = root_of(repository.objects, repository.commit)
        known = self.cache.result(tree, repository.commit)
        if known is None:
            name = str(self.source.path or self.source.url)
            known = inventory(repository, cache=self.cache, earlier=self.cache.last(name))
            self.cache.keep(tree, known, name)
        return known


def _compared(changes: Comparison, before: Inventory, after: Inventory, form: str) -> str:
    if form == "table":
        return comparison(changes)
    commits = {"schema_version": SCHEMA_VERSION, "before": before.commit, "after": after.commit}
    return f"{json.dumps(commits | changes.document(), ensure_ascii=False, indent=1)}\n"
