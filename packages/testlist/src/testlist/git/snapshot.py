"""What is staged, or what stands in the work tree, as a commit: made in a folder of ours, never in the repository.

git hashes what changed since the last `git add` into an object folder that is gone afterwards; everything else is read
from the repository's own.  Neither its configuration nor its hooks and filters are read, as everywhere here.
"""

import os
import shutil
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Final

from testlist.errors import InventoryError
from testlist.git import scratch
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
#: of one git: a pipe that is called .gitignore keeps it waiting
WALL_SECONDS: Final = 60.0
LISTED: Final = ("ls-files", "-z", "--modified", "--deleted", "--others", "--exclude-standard")


@contextmanager
def snapshot(
    path: Path, kind: str, *, workdir: Path, limits: GitLimits | None = None, checkpoint: Checkpoint = silent
) -> Iterator[Repository]:
    """Open what is staged in the repository at a path, or what stands in its work tree with new files.

    Raises: InventoryError.
    """
    limits, progress, place = limits or GitLimits(), Progress(checkpoint), layout(path)
    if not (path / ".git").exists():
        raise InventoryError("repository_not_found", "A repository without a work tree has neither that nor an index.")
    with scratch.directory(workdir) as folder:
        digits = _prepare(folder, place, limits.pack_bytes)
        made = _Snapshot(path, place, folder, replace(limits, wall_seconds=WALL_SECONDS), progress, digits)
        commit = made.commit(is_worktree=kind == WORKTREE)
        with Objects(folder, limits, progress, reads=place.stores) as objects:
            yield Repository(commit, objects, limits, progress, made.large.intersection)


@dataclass(frozen=True, slots=True)
class _Snapshot:
    """git's work on one.

    path: of the work tree; folder: where it writes; digits: of an id; large: ids of files that are too large.
    """

    path: Path
    place: Layout
    folder: Path
    limits: GitLimits
    progress: Progress
    digits: int
    large: set[str] = field(default_factory=set)

    def commit(self, *, is_worktree: bool) -> str:
        """The id of a new commit."""
        if is_worktree:
            self._add_changed()
        tree = self._git(["write-tree", "--missing-ok"]).decode("ascii", "replace").strip()
        commit = self._git(["commit-tree", tree]).decode("ascii", "replace").strip()
        if not OBJECT_ID.fullmatch(commit):
            raise InventoryError("git_failed", "Git did not say what it made of the files.")
        return commit

    def _add_changed(self) -> None:
        """Bring the index to what stands in the work tree."""
        update = ["update-index", "-z", "--add", "--remove", "--replace"]
        listed = self._git([*LISTED, *(f"--exclude-from={file}" for file in self.place.excludes)])
        changed: dict[bool | None, list[bytes]] = {True: [], False: [], None: []}
        for name in dict.fromkeys(listed.split(b"\0")):
            if name and not name.endswith(b"/"):  # another repository
                changed[self._is_small(name)].append(name)
        self._git([*update, "--stdin"], b"".join(name + b"\0" for name in changed[True]))
        self._git(["update-index", "-z", "--force-remove", "--stdin"], b"".join(name + b"\0" for name in changed[None]))
        # nobody has such an object: it is said to be too large, and is not hashed
        stand_ins = {sha256(name).hexdigest()[: self.digits]: name for name in changed[False]}
        self.large.update(stand_ins)
        lines = (f"100644 {blob_id}\t".encode() + name + b"\0" for blob_id, name in stand_ins.items())
        self._git(["update-index", "-z", "--index-info"], b"".join(lines))

    def _is_small(self, name: bytes) -> bool | None:
        """Whether a file is no larger than a candidate may be, or gone; None for what is no file there any more."""
        path = self.path / os.fsdecode(name)
        try:
            if any(
                parent.is_symlink()
                for parent in path.parents
                if parent.is_relative_to(self.path) and parent != self.path
            ):
                return None  # git reads nothing behind a link
            found = path.lstat()
        except OSError:
            return True
        return None if stat.S_ISDIR(found.st_mode) else found.st_size <= self.limits.blob_bytes

    def _git(self, argv: Sequence[str], feed: bytes = b"") -> bytes:
        env = environment((("core.symlinks", "true"),)) | NOBODY
        env |= {"GIT_DIR": str(self.folder), "GIT_WORK_TREE": str(self.path)}
        reads = (*self.place.stores, self.path, *self.place.excludes)
        git = GitProcess(argv, env, self.limits, self.progress, self.folder, reads=reads, writes=True)
        answer = git.run(feed)
        if git.exit_code and argv[0] == "write-tree":
            raise InventoryError("commit_not_found", "The index has conflicts, or names what is not there.")
        if git.exit_code:
            raise InventoryError("git_failed", f"Git could not read the work tree or its index ({argv[0]}).")
        return answer


def _prepare(folder: Path, place: Layout, most_bytes: int) -> int:
    """Make an empty repository with the index of the other one, and all of its objects.  -> digits of an id."""
    head = lookup(place, "HEAD")
    digits = len(head.object_id) if head is not None and head.object_id else 40
    shutil.copytree(NOWHERE / HASHES[digits], folder, dirs_exist_ok=True)
    (folder / "objects" / "info").mkdir(parents=True)
    stores = b"".join(os.fsencode(store) + b"\n" for store in place.stores if "\n" not in str(store))
    (folder / "objects" / "info" / "alternates").write_bytes(stores)
    # with its time, by which git sees files that changed in the same second
    for index in (place.head / "index", *place.head.glob("sharedindex.*")):
        if index.is_file() and not index.is_symlink():
            if index.stat().st_size > most_bytes:
                raise InventoryError("repository_too_large", "The index is larger than the limit.")
            shutil.copy2(index, folder / index.name)
    hand_over(folder, *folder.rglob("*"))
    return digits
