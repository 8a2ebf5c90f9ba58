"""One commit in one Git object store: what it lists and what its blobs hold.  Nothing is ever checked out."""

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Final, NamedTuple

from tasks.inventory.errors import InventoryError
from tasks.inventory.giterrors import meaning
from tasks.inventory.gitprocess import GitLimits, GitProcess, environment
from tasks.inventory.pulse import Pulse

#: a repository of another user may be read: nothing in it is run, see HARDENED
READ_ONLY: Final = (("safe.directory", "*"),)


class Refusal(StrEnum):
    """Why a blob has no content for us."""

    TOO_LARGE = "too_large"
    MISSING = "missing"  #: the repository on this machine is incomplete


class Entry(NamedTuple):
    """One regular file of a commit.  path: as shown; bytes that are no UTF-8 are replaced."""

    path: str
    blob_id: str


@dataclass(slots=True)
class Repository:
    """A readable commit.  bring: fetches blobs of a partial clone; None when all are here."""

    commit: str
    directory: Path
    limits: GitLimits = field(default_factory=GitLimits)
    pulse: Pulse = field(default_factory=Pulse)
    bring: Callable[[Sequence[str]], None] | None = None

    def entries(self) -> Generator[Entry, None, None]:
        """List regular files in git's order; symlinks and submodules are left out.

        Raises: InventoryError repository_too_large, commit_not_found, git_failed.
        """
        git = self._git(["ls-tree", "-r", "-z", "--full-tree", self.commit])
        rest, count = b"", 0
        with closing(git.output()) as output:
            for chunk in output:
                *records, rest = (rest + chunk).split(b"\0")
                count += len(records)
                if count > self.limits.entries or len(rest) > 2 * self.limits.path_bytes:
                    raise InventoryError("repository_too_large", "The repository has too many files.")
                yield from filter(None, map(self._entry, records))
        if git.exit_code:
            raise meaning(git.errors)

    def sizes(self, blob_ids: Sequence[str]) -> dict[str, int]:
        """Sizes in bytes of the blobs that are here."""
        if not blob_ids:
            return {}
        feed = "".join(f"{blob_id}\n" for blob_id in blob_ids).encode()
        git = self._git(["cat-file", "--batch-check=%(objecttype) %(objectname) %(objectsize)"])
        words = [line.split() for line in git.run(feed).decode().splitlines()]
        return {word[1]: int(word[2]) for word in words if len(word) == 3 and word[0] == "blob"}

    def read(self, blob_ids: Collection[str]) -> Iterator[tuple[str, bytes | Refusal]]:
        """Yield (blob id, content or why there is none); those without come first."""
        wanted = sorted(set(blob_ids))
        sizes = self.sizes(wanted)
        if self.bring is not None and (absent := [blob_id for blob_id in wanted if blob_id not in sizes]):
            self.bring(absent)
            sizes |= self.sizes(absent)
        small = []
        for blob_id in wanted:
            # what a host was asked for and did not fit the pack it may fill is too large
            size = sizes.get(blob_id, None if self.bring is None else self.limits.blob_bytes + 1)
            if size is not None and size <= self.limits.blob_bytes:
                small.append(blob_id)
            else:
                yield blob_id, Refusal.MISSING if size is None else Refusal.TOO_LARGE
        yield from self._contents(small)

    def _contents(self, blob_ids: Sequence[str]) -> Iterator[tuple[str, bytes]]:
        if not blob_ids:
            return
        git = self._git(["cat-file", "--batch", "--buffer"])
        buffer = bytearray()
        with closing(git.output("".join(f"{blob_id}\n" for blob_id in blob_ids).encode())) as output:
            for chunk in output:
                buffer += chunk
                while (found := _first_object(buffer)) is not None:
                    blob_id, start, stop = found
                    content = bytes(buffer[start:stop])
                    del buffer[: stop + 1]  # git ends every object with a newline
                    yield blob_id, content

    def _entry(self, record: bytes) -> Entry | None:
        head, _, path = record.partition(b"\t")
        if len(path) > self.limits.path_bytes or path.count(b"/") > self.limits.depth:
            raise InventoryError("repository_too_large", "The repository has paths that are too long or too deep.")
        if not head.startswith(b"100"):
            return None
        return Entry(path.decode("utf-8", "replace"), head[head.rindex(b" ") + 1 :].decode("ascii"))

    def _git(self, argv: Sequence[str]) -> GitProcess:
        return GitProcess(argv, environment(READ_ONLY), self.limits, self.pulse, directory=self.directory)


def _first_object(buffer: bytearray) -> tuple[str, int, int] | None:
    """Find the first whole `<id> <type> <size>` record: (id, start, stop) of its content."""
    line_end = buffer.find(b"\n")
    if line_end < 0:
        return None
    blob_id, _, size = buffer[:line_end].decode("ascii").split(" ")
    stop = line_end + 1 + int(size)
    return (blob_id, line_end + 1, stop) if len(buffer) > stop else None
