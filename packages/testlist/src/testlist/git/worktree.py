"""Files of a work tree that differ from a commit.  git reads neither the repository's configuration nor its hooks."""

from pathlib import Path
from typing import Final

from testlist.errors import InventoryError
from testlist.git.layout import layout
from testlist.git.local import NOWHERE
from testlist.git.objects import HASHES
from testlist.git.process import GitLimits, GitProcess, environment
from testlist.progress import Progress
from testlist.sandbox.process import NoSandbox

#: a pipe that is called .gitignore keeps git waiting, and the answer is written already
LIMITS: Final = GitLimits(wall_seconds=10.0)


def changed(path: Path, commit: str) -> int:
    """How many files of the work tree at `path` a reading of the commit leaves out: changed, deleted and new ones.

    0 as well if that is unknown: without a work tree, without an index, or if git does not answer.
    """
    try:
        place = layout(path)
        index = place.head / "index"
        if not (path / ".git").exists() or not index.is_file():
            return 0
        directory = NOWHERE / HASHES.get(len(commit), "sha1")
        # the work tree is the user's own, with the links that it has
        env = environment((("core.symlinks", "true"),)) | {
            "GIT_DIR": str(directory),
            "GIT_OBJECT_DIRECTORY": str(place.stores[0]),
            "GIT_INDEX_FILE": str(index),
            "GIT_WORK_TREE": str(path),
        }
        own = place.excludes
        commands = (
            ["diff", "--name-only", "-z", "--no-ext-diff", "--no-textconv", "--ignore-submodules=all", commit, "--"],
            ["ls-files", "-z", "--others", "--exclude-standard", *(f"--exclude-from={file}" for file in own)],
        )
        reads = (*place.stores, index, path, *own)
        gits = [GitProcess(argv, env, LIMITS, Progress(), directory, reads=reads) for argv in commands]
        return sum(_names(git) for git in gits)
    except (InventoryError, NoSandbox):
        return 0


def _names(git: GitProcess) -> int:
    answer = git.run()
    return 0 if git.exit_code else answer.count(b"\0")
