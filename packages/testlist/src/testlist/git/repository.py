"""One commit in one Git object store: what it lists and what its blobs hold.  Nothing is ever checked out."""

from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from testlist.git import commits
from testlist.git.objects import Header, Objects, Refusal
from testlist.git.process import GitLimits
from testlist.git.trees import FOLDERS, Trees
from testlist.model import Folder
from testlist.progress import Progress


class Entry(NamedTuple):
    """A regular file of a commit, or a folder as it was, of which blob_id is the tree.

    path: as shown, where bytes that are no UTF-8 are replaced; of a folder with `/` behind it, empty for the root.
    """

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

    def entries(
        self, earlier: Mapping[str, Folder] | None = None, folders: dict[str, Folder] | None = None
    ) -> Generator[Entry, None, None]:
        """List regular files in git's order; symlinks and submodules are left out.

        earlier: folders of another commit, of which those that are the same are listed as one; folders: where those
        that are not are noted.

        Raises: InventoryError repository_too_large, repository_too_complex, repository_damaged, commit_not_found.
        """
        trees = Trees(self.objects, self.limits, earlier or {}, folders={} if folders is None else folders)
        for path, mode, object_id in trees.leaves(self.commit):
            if mode.startswith(b"100") or mode in FOLDERS:
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
