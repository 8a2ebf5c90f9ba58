"""One commit in one Git object store: what it lists and what its blobs hold.  Nothing is ever checked out."""

from collections.abc import Callable, Collection, Generator, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from testlist.git import commits
from testlist.git.objects import Header, Objects, Refusal
from testlist.git.process import GitLimits
from testlist.git.trees import Trees
from testlist.progress import Progress


class Entry(NamedTuple):
    """One regular file of a commit.  path: as shown; bytes that are no UTF-8 are replaced."""

    path: str
    blob_id: str


@dataclass(slots=True)
class Repository:
    """A readable commit.

    bring: fetches blobs of a partial clone, and returns those that were too large; None when all are here.
    """

    commit: str
    objects: Objects
    limits: GitLimits = field(default_factory=GitLimits)
    progress: Progress = field(default_factory=Progress)
    bring: Callable[[Sequence[str]], Collection[str]] | None = None

    @property
    def directory(self) -> Path:
        """Git's folder."""
        return self.objects.directory

    def entries(self) -> Generator[Entry, None, None]:
        """List regular files in git's order; symlinks and submodules are left out.

        Raises: InventoryError repository_too_large, repository_too_complex, repository_damaged, commit_not_found.
        """
        for path, mode, object_id in Trees(self.objects, self.limits).leaves(self.commit):
            if mode.startswith(b"100"):
                yield Entry(path.decode("utf-8", "replace"), object_id)

    def sizes(self, blob_ids: Sequence[str]) -> dict[str, int]:
        """Sizes in bytes of the blobs that are here."""
        return {blob_id: header.size for blob_id, header in self._blobs(blob_ids).items()}

    def read(self, blob_ids: Collection[str]) -> Iterator[tuple[str, bytes | Refusal]]:
        """Yield (blob id, content or why there is none); most of those without come first."""
        wanted = sorted(set(blob_ids))
        here, large = self._blobs(wanted), set[str]()
        if self.bring is not None and (absent := [blob_id for blob_id in wanted if blob_id not in here]):
            large.update(self.bring(absent))
            here |= self._blobs(absent)
        small = []
        for blob_id in wanted:
            header = here.get(blob_id)
            if header is not None and header.size <= self.limits.blob_bytes:
                small.append(header)
            else:
                missing = header is None and blob_id not in large
                yield blob_id, Refusal.MISSING if missing else Refusal.TOO_LARGE
        yield from self.objects.read(small)

    def committed_at(self) -> datetime | None:
        """When the commit was made; see `commits`."""
        return commits.committed_at(self.objects, self.commit)

    def _blobs(self, blob_ids: Sequence[str]) -> dict[str, Header]:
        found = self.objects.headers(blob_ids) if blob_ids else {}
        return {blob_id: header for blob_id, header in found.items() if header.kind == "blob"}
