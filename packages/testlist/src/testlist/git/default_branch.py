"""Which commits are on the default branch: looked up in the history of HEAD, newest first, without a folder or a file.

Of a remote repository only commits are fetched, and only so many of the newest ones.  What was not found may lie
behind these; then it is left open.
"""

from collections.abc import Generator, Iterator, Mapping, Sequence
from contextlib import closing, suppress
from dataclasses import replace
from datetime import datetime, timedelta
from math import inf
from pathlib import Path
from typing import Final

from testlist.errors import InventoryError
from testlist.git import scratch
from testlist.git.errors import meaning
from testlist.git.fetch import Client, Source, resolve
from testlist.git.layout import Layout, layout
from testlist.git.local import NOWHERE
from testlist.git.objects import HASHES
from testlist.git.process import GitLimits, GitProcess, environment
from testlist.git.refs import lookup
from testlist.progress import Checkpoint, Progress, silent

#: commits between HEAD and the last ones that are fetched, at first and at last
DEPTHS: Final = (100, 2_000)
#: bytes of commits that are fetched, some 300 each
FETCHED: Final = 8 << 20
#: commits of a history that are read at most
MOST: Final = 20_000
#: seconds of one git
SECONDS: Final = 30.0
#: seconds by which a commit may be older than its parent, because a clock was wrong
SKEW: Final = timedelta(days=1).total_seconds()


def on_default_branch(
    source: Source,
    commit: str,
    commits: Mapping[str, datetime | None],
    *,
    workdir: Path,
    limits: GitLimits | None = None,
    checkpoint: Checkpoint = silent,
) -> dict[str, bool]:
    """Whether each commit is HEAD or an ancestor of it; commits for which this is unknown are missing.

    commit: the one for which more of a remote history is fetched; commits: it and others, by when they were made.
    """
    limits, progress = limits or GitLimits(), Progress(checkpoint)
    limits = replace(limits, wall_seconds=min(limits.wall_seconds, SECONDS))
    wanted = {one: at.timestamp() if at else -inf for one, at in commits.items()}
    members: dict[str, bool] = {}
    likely: dict[str, bool] = {}
    with suppress(InventoryError):  # what is known until then is right all the same
        head, place = _head(source, limits, checkpoint)
        if head in wanted:
            members[head] = True
        if wanted.keys() == members.keys():
            return members
        if place is not None:
            known, likely = _members(_history_of_stores(head, place.stores, limits, progress), wanted)
            members |= known
        else:
            for known, by_dates in _attempts(source, head, wanted, workdir, limits, progress):
                members, likely = members | known, by_dates
                if commit in members:
                    break
    return likely | members


def _head(source: Source, limits: GitLimits, checkpoint: Checkpoint) -> tuple[str, Layout | None]:
    """The commit of HEAD, and the parts of a repository on this machine, whose HEAD is read without git."""
    if source.path is None:
        return resolve(source, None, limits=limits, checkpoint=checkpoint)[0], None
    place = layout(source.path, source.root)
    found = lookup(place, "HEAD")
    if found is None or found.object_id is None:
        raise InventoryError("repository_empty", "The repository has no commits.")
    return found.object_id, place


def _attempts(
    source: Source, head: str, wanted: Mapping[str, float], workdir: Path, limits: GitLimits, progress: Progress
) -> Iterator[tuple[dict[str, bool], dict[str, bool]]]:
    """What is known of a remote repository after each attempt, as of _members."""
    client = Client(source, limits, progress)
    with scratch.directory(workdir) as directory:
        client.initialise(directory)
        ends = directory / "shallow"
        for depth in DEPTHS:
            client.fetch(directory, [head], file_bytes=FETCHED, omitted="tree:0", options=[f"--depth={depth}"])
            last_ones = frozenset(ends.read_text("ascii").split()) if ends.exists() else frozenset[str]()
            git = GitProcess(
                _argv(head), environment(()) | {"GIT_DIR": str(directory)}, limits, progress, directory=directory
            )
            yield _members(git, wanted, last_ones)
            if not last_ones:
                return


def _history_of_stores(head: str, stores: Sequence[Path], limits: GitLimits, progress: Progress) -> GitProcess:
    nowhere = NOWHERE / HASHES.get(len(head), "sha1")
    env = environment(()) | {"GIT_DIR": str(nowhere), "GIT_OBJECT_DIRECTORY": str(stores[0])}
    return GitProcess(_argv(head), env, limits, progress, directory=nowhere, reads=stores)


def _argv(head: str) -> list[str]:
    return ["rev-list", "--timestamp", f"--max-count={MOST}", head, "--"]


def _members(
    git: GitProcess, wanted: Mapping[str, float], last_ones: frozenset[str] = frozenset()
) -> tuple[dict[str, bool], dict[str, bool]]:
    """What is certain, and which commits are not in the history if their dates are right.

    git: lists a history; last_ones: commits whose parents are not here.
    """
    left, end = dict(wanted), inf
    with suppress(InventoryError), closing(_commits(git)) as history:
        end = _end(history, left, last_ones)
    found = {commit: True for commit in wanted if commit not in left}
    if end == -inf:
        return found | dict.fromkeys(left, False), {}
    return found, {commit: False for commit, at in left.items() if at > end + SKEW}


def _end(history: Iterator[tuple[str, float]], left: dict[str, float], last_ones: frozenset[str]) -> float:
    """Take what a history contains out of `left`; -> when the newest commit that was not seen was made, at the latest.

    -inf: there is no other; inf: children that are older than their parents were seen, so that dates say nothing.
    """
    oldest, behind, is_ordered = inf, -inf, True
    for number, (commit, at) in enumerate(history, 1):
        left.pop(commit, None)
        if not left:
            break
        if commit in last_ones or number == MOST:
            behind = max(behind, at)
        is_ordered = is_ordered and at <= oldest + SKEW
        oldest = min(oldest, at)
    return behind if is_ordered or behind == -inf else inf


def _commits(git: GitProcess) -> Generator[tuple[str, float], None, None]:
    """Yield (commit, when it was made, in seconds since the epoch), newest first.  Raises: InventoryError."""
    rest = b""
    with closing(git.output()) as chunks:
        for chunk in chunks:
            *lines, rest = (rest + chunk).split(b"\n")
            for line in lines:
                at, _, commit = line.partition(b" ")
                yield commit.decode("ascii"), float(at)
    if git.exit_code:
        raise meaning(git.errors, git.exit_code)
