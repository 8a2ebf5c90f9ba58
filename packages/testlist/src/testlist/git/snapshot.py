"""What is staged, or what stands in the work tree, as a commit: made in a folder of ours, never in the repository.

git hashes what changed since the last `git add` into an object folder that is gone afterwards; everything else is read
from the repository's own.  Neither its configuration nor its hooks and filters are read, as everywhere here.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from testlist.errors import InventoryError
from testlist.git import scratch
from testlist.git.errors import meaning
from testlist.git.layout import Layout, layout
from testlist.git.local import NOWHERE
from testlist.git.objects import HASHES, Objects
from testlist.git.process import GitLimits, GitProcess, environment
from testlist.git.refs import OBJECT_ID, lookup
from testlist.git.repository import Repository
from testlist.progress import Checkpoint, Progress, silent
from testlist.sandbox.guard import hand_over

STAGED, WORKTREE = "staged", "worktree"
#: nobody's, and of no time: the commit has the id of its files
NOBODY: Final = {
    f"GIT_{who}_{what}": value
    for who in ("AUTHOR", "COMMITTER")
    for what, value in (("NAME", "testlist"), ("EMAIL", "nobody@localhost"), ("DATE", "@0 +0000"))
}
LISTED: Final = ("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")


@contextmanager
def snapshot(
    path: Path, kind: str, *, workdir: Path, limits: GitLimits | None = None, checkpoint: Checkpoint = silent
) -> Iterator[Repository]:
    """Open what is staged in the repository at a path, or what stands in its work tree with new files.

    Files of the work tree above `limits.blob_bytes` are left out.  Raises: InventoryError.
    """
    limits, progress, place = limits or GitLimits(), Progress(checkpoint), layout(path)
    if not (path / ".git").exists():
        raise InventoryError("repository_not_found", "A repository without a work tree has neither that nor an index.")
    with scratch.directory(workdir) as folder:
        _prepare(folder, place)
        made = _Snapshot(path, place, folder, limits, progress)
        commit = made.commit(is_worktree=kind == WORKTREE)
        with Objects(folder, limits, progress, reads=place.stores) as objects:
            yield Repository(commit, objects, limits, progress)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """git's work on one.  path: of the work tree; folder: where it writes."""

    path: Path
    place: Layout
    folder: Path
    limits: GitLimits
    progress: Progress

    def commit(self, *, is_worktree: bool) -> str:
        """The id of a new commit."""
        if is_worktree:
            changed = b"".join(name + b"\0" for name in self._changed())
            self._git(["update-index", "-z", "--add", "--remove", "--replace", "--stdin"], changed)
        tree = self._git(["write-tree", "--missing-ok"]).decode("ascii", "replace").strip()
        commit = self._git(["commit-tree", tree]).decode("ascii", "replace").strip()
        if not OBJECT_ID.fullmatch(commit):
            raise InventoryError("git_failed", "Git did not say what it made of the files.")
        return commit

    def _changed(self) -> Iterator[bytes]:
        """Paths of changed, deleted and new files; of large ones none, so that an index has them as they were."""
        own = self.place.common / "info" / "exclude"
        listed = self._git([*LISTED, *([f"--exclude-from={own}"] if own.is_file() else [])])
        for name in dict.fromkeys(listed.split(b"\0")):
            if name and self._is_small(name):
                yield name

    def _is_small(self, name: bytes) -> bool:
        """Whether it is gone, or a file or a link that a candidate may be; a folder is another repository."""
        try:
            found = (self.path / os.fsdecode(name)).lstat()
        except OSError:
            return True
        return not stat.S_ISDIR(found.st_mode) and found.st_size <= self.limits.blob_bytes

    def _git(self, argv: Sequence[str], feed: bytes = b"") -> bytes:
        env = environment((("core.symlinks", "true"),)) | NOBODY
        env |= {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.path)}
        exclude = self.place.common / "info" / "exclude"
        reads = (*self.place.stores, self.path, *([exclude] if exclude.is_file() else []))
        git = GitProcess(argv, env, self.limits, self.progress, self.folder, reads=reads, writes=True)
        answer = git.run(feed)
        if git.exit_code and argv[0] == "write-tree":
            raise InventoryError("commit_not_found", "The index has conflicts, or names what is not there.")
        if git.exit_code:
            raise meaning(git.errors, git.exit_code)
        return answer


def _prepare(folder: Path, place: Layout) -> None:
    """An empty repository with the index of the other one, and all of its objects."""
    if any("\n" in str(store) for store in place.stores):
        raise InventoryError("repository_damaged", "The name of an object folder has a line break.")
    head = lookup(place, "HEAD")
    kind = HASHES.get(len(head.object_id), "sha1") if head is not None and head.object_id else "sha1"
    shutil.copytree(NOWHERE / kind, folder, dirs_exist_ok=True)
    (folder / "objects" / "info").mkdir(parents=True)
    (folder / "objects" / "info" / "alternates").write_text("".join(f"{store}\n" for store in place.stores))
    # with its time, by which git sees files that changed in the same second
    for index in (place.head / "index", *place.head.glob("sharedindex.*")):
        if index.is_file():
            shutil.copy2(index, folder / index.name)
    hand_over(folder, *folder.rglob("*"))
