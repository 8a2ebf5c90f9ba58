"""Where a repository is and how one commit of it gets here."""

import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from testlist.errors import InventoryError
from testlist.git import scratch
from testlist.git.branches import branches
from testlist.git.errors import meaning
from testlist.git.layout import layout
from testlist.git.local import commit_of, merge_base, opened, resolve_local
from testlist.git.objects import Objects
from testlist.git.process import GitLimits, GitProcess, Host, environment
from testlist.git.refs import OBJECT_ID
from testlist.git.repository import Repository
from testlist.git.revisions import SHORT, revision
from testlist.progress import Checkpoint, Progress, silent
from testlist.sandbox.guard import hand_over

#: bytes allowed for a blob beside its limit: pack header, object header, checksum
OVERHEAD: Final = 64 << 10
#: bytes a blob may take in a pack on average before its batch is split to find the large one
SHARE: Final = 48 << 10
#: of a pack that git reads at least
BYTES_A_SECOND: Final = 16 << 20
#: what git says when the program that reads a pack ended early
UNFINISHED: Final = b"invalid index-pack output"
AT_HOSTS: Final = "a host finds branches, tags and whole commit ids only"
#: blobs fetched at once
BATCH: Final = 2_000


@dataclass(frozen=True, slots=True)
class Source:
    """A repository.  Make one with `remote` or `local`."""

    url: str | None = None
    path: Path | None = None
    root: Path | None = None  # all parts of the repository at `path` lie below it
    address: str | None = None  # the checked IP address; connections to the host of `url` go there only
    authorization: str | None = field(default=None, repr=False)  # value of the HTTP header, a secret

    @classmethod
    def remote(
        cls, url: str, *, address: str | None = None, authorization: str | None = None, plain_http: bool = False
    ) -> "Source":
        """An https address the caller has checked.  plain_http: also http, for hosts on this machine.

        Raises: InventoryError host_refused.
        """
        parts = urlsplit(url)
        wrong_scheme = parts.scheme != "https" and not (plain_http and parts.scheme == "http")
        if wrong_scheme or not parts.hostname or "@" in parts.netloc or re.search(r"[\x00-\x20\x7f]", url):
            raise InventoryError("host_refused", "Only https addresses without a user name are allowed.")
        return cls(url=url, address=address, authorization=authorization)

    @classmethod
    def local(cls, path: Path, *, root: Path | None = None) -> "Source":
        """A Git repository on this machine, with or without a work tree; it is never written to.

        root: no part of it may lie elsewhere, whatever links and pointers it has; None for one that the caller trusts.
        """
        return cls(path=Path(os.path.realpath(path)), root=None if root is None else Path(os.path.realpath(root)))


def resolve(
    source: Source, ref: str | None, *, limits: GitLimits | None = None, checkpoint: Checkpoint = silent
) -> tuple[str, str]:
    """Find the commit that a revision means: (commit id, name as found).  None means HEAD.

    Steps such as `~2` and beginnings of ids need a repository on this machine.  The id of a remote commit is taken as
    given; `fetched` says whether it exists.
    Raises: InventoryError.
    """
    wanted = revision(ref or "HEAD")
    limits, progress = limits or GitLimits(), Progress(checkpoint)
    if source.path is not None:
        return resolve_local(source.path, source.root, wanted, limits, progress)
    if wanted.steps:
        raise InventoryError("commit_not_found", f"A Git host does not find {ref!r}: {AT_HOSTS}.")
    if OBJECT_ID.fullmatch(wanted.name.lower()):
        return wanted.name.lower(), wanted.name
    return Client(source, limits, progress).resolve_remote(wanted.name)


def common_ancestor(
    source: Source, ids: tuple[str, str], *, limits: GitLimits | None = None, checkpoint: Checkpoint = silent
) -> str:
    """The newest commit that both come from, in a repository on this machine.  Raises: InventoryError."""
    if source.path is None:
        raise InventoryError("commit_not_found", "A...B needs a repository on this machine; compare A..B instead.")
    return merge_base(source.path, source.root, ids, limits or GitLimits(), Progress(checkpoint))


def branches_of(source: Source, most: int) -> list[str]:
    """Names of branches of a repository on this machine, in order; none of a remote one.  Raises: InventoryError."""
    return [] if source.path is None else branches(layout(source.path, source.root), most)


@contextmanager
def fetched(
    source: Source, commit: str, *, workdir: Path, limits: GitLimits | None = None, checkpoint: Checkpoint = silent
) -> Iterator[Repository]:
    """Open one commit for reading: a local repository in place, a remote one without its blobs.

    A remote commit lives in a directory below workdir that is gone afterwards.  Raises: InventoryError.
    """
    if not OBJECT_ID.fullmatch(commit):
        raise InventoryError("commit_not_found", "A commit id has 40 hexadecimal digits.")
    limits, progress = limits or GitLimits(), Progress(checkpoint)
    if source.path is not None:
        # looked at again: it may have changed since the commit was resolved
        with opened(layout(source.path, source.root), commit, limits, progress) as objects:
            commit_of(objects, commit)
            yield Repository(commit, objects, limits, progress)
        return
    client = Client(source, limits, progress)
    with scratch.directory(workdir) as directory:
        client.initialise(directory)
        client.fetch(directory, [commit], file_bytes=limits.pack_bytes, options=["--depth=1"])
        with Objects(directory, limits, progress) as objects:
            yield Repository(commit, objects, limits, progress, _Bringer(client, directory))


@dataclass(slots=True)
class Client:
    """git's answers about one source."""

    source: Source
    limits: GitLimits
    progress: Progress

    def resolve_remote(self, ref: str) -> tuple[str, str]:
        """The commit of a name, and the name; of HEAD, its branch."""
        # git's own order: a full name, then a tag (`^{}`: the commit an annotated one points at), then a branch
        names = [ref, f"refs/tags/{ref}^{{}}", f"refs/tags/{ref}", f"refs/heads/{ref}"]
        names = ["HEAD"] if ref == "HEAD" else [f"{ref}^{{}}", *names] if ref.startswith("refs/") else names[1:]
        lines = self._ask(["ls-remote", "--symref", "--", self._url(), *names]).splitlines()
        found = {name: commit for commit, tab, name in (line.partition("\t") for line in lines) if tab}
        branch = next((line.split()[1] for line in lines if line.startswith("ref: ")), "HEAD")
        for name in names:
            if OBJECT_ID.fullmatch(commit := found.get(name, "")):
                return commit, branch.removeprefix("refs/heads/") if ref == "HEAD" else ref
        if ref == "HEAD":
            raise InventoryError("repository_empty", "The repository has no commits.")
        if SHORT.fullmatch(ref):
            raise InventoryError("commit_not_found", f"The repository has no branch or tag {ref!r}; {AT_HOSTS}.")
        raise InventoryError("commit_not_found", f"The repository has no branch or tag {ref!r}.")

    def initialise(self, directory: Path) -> None:
        """Make an empty repository."""
        # written by hand: `git init` costs a process and copies templates
        for name in ("objects", "refs"):
            (directory / name).mkdir()
            hand_over(directory / name)
        hand_over(directory)
        (directory / "HEAD").write_text("ref: refs/heads/none\n")
        self.disconnect(directory)

    def disconnect(self, directory: Path) -> None:
        """Forget the remote: a missing blob is then missing, and no later read can go and ask for it."""
        (directory / "config").write_text("[core]\n\trepositoryformatversion = 0\n\tbare = true\n")

    def fetch(
        self,
        directory: Path,
        ids: Collection[str],
        *,
        file_bytes: int,
        omitted: str = "blob:none",
        options: Sequence[str] = (),
    ) -> None:
        """Fetch objects by id; trees come along, blobs only when named.  omitted: git's filter of what stays there."""
        argv = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--recurse-submodules=no"]
        argv += [f"--filter={omitted}", *options, "--stdin", "origin"]
        settings = [*self._settings(), ("remote.origin.url", self._url()), ("remote.origin.promisor", "true")]
        settings += [("remote.origin.partialclonefilter", omitted), ("fetch.negotiationAlgorithm", "noop")]
        # what is small takes long to read only if it was made for that
        seconds = min(self.limits.processor_seconds, 2 + file_bytes // BYTES_A_SECOND)
        git = GitProcess(
            argv,
            self._environment(settings),
            replace(self.limits, processor_seconds=seconds),
            self.progress,
            directory=directory,
            host=self._host(),
            file_bytes=file_bytes,
        )
        git.run("".join(f"{object_id}\n" for object_id in ids).encode())
        self.disconnect(directory)
        if git.exit_code:
            raise self._reason(git, directory, file_bytes)

    def _reason(self, git: GitProcess, directory: Path, file_bytes: int) -> InventoryError:
        """Why a fetch failed.  git does not say by which limit the program ended that reads a pack."""
        reason = meaning(git.errors.replace(UNFINISHED, b""), git.exit_code)
        if reason.code != "git_failed" or UNFINISHED not in git.errors:
            return reason
        sizes = [path.stat().st_size for path in (directory / "objects" / "pack").glob("tmp_pack_*")]
        if max(sizes, default=file_bytes) < file_bytes:
            return InventoryError("repository_too_complex", "Git needs too long to read what the host sent.")
        return InventoryError("repository_too_large", "The repository is larger than the limit.")

    def _ask(self, argv: Sequence[str]) -> str:
        git = GitProcess(argv, self._environment(self._settings()), self.limits, self.progress, host=self._host())
        answer = git.run().decode("utf-8", "replace")
        if git.exit_code:
            raise meaning(git.errors, git.exit_code)
        return answer

    def _url(self) -> str:
        if self.source.url is None:
            raise InventoryError("git_failed", "This repository is not on a Git host.")
        return self.source.url

    def _host(self) -> Host:
        address = urlsplit(self._url())
        return Host(_port(self._url()), six=":" in (self.source.address or address.hostname or ""))

    def _environment(self, settings: Sequence[tuple[str, str]]) -> dict[str, str]:
        return environment(settings, protocols=urlsplit(self._url()).scheme)

    def _settings(self) -> list[tuple[str, str]]:
        parts = urlsplit(self._url())
        settings = [("http.lowSpeedLimit", "1000"), ("http.lowSpeedTime", str(self.limits.stall_seconds))]
        if self.source.address is not None:
            pinned = f"{parts.hostname}:{_port(self._url())}:{self.source.address}"
            settings.append(("http.curloptResolve", pinned))
        if self.source.authorization is not None:
            settings.append(("http.extraHeader", f"Authorization: {self.source.authorization}"))
        return settings


def _port(url: str) -> int:
    address = urlsplit(url)
    return address.port or (443 if address.scheme == "https" else 80)


@dataclass(slots=True)
class _Bringer:
    """Fetches blobs in batches.

    A filter cannot bound blobs that are asked for by id, so the size of the pack on disk does: a batch that
    outgrows it is halved until the large blob stands alone.
    """

    client: Client
    directory: Path
    wasted: int = 0  # bytes of transfers that were cut off

    def __call__(self, blob_ids: Sequence[str]) -> list[str]:
        """Fetch blobs that are not here; returns those that are too large.  Raises: InventoryError."""
        large: list[str] = []
        batches = [blob_ids[start : start + BATCH] for start in range(0, len(blob_ids), BATCH)]
        while batches:
            self.check()
            batch = batches.pop()
            bound = self.bound(len(batch))
            try:
                self.client.fetch(self.directory, batch, file_bytes=bound)
            except InventoryError as error:
                if error.code != "repository_too_large":
                    raise
                self.wasted += bound
                large += batch if len(batch) == 1 else ()
                middle = len(batch) // 2
                batches += [half for half in (batch[:middle], batch[middle:]) if half and len(batch) > 1]
        return large

    def check(self) -> None:
        """Bound what all batches take together."""
        packs = (self.directory / "objects" / "pack").glob("*.pack")
        if self.wasted + sum(pack.stat().st_size for pack in packs) > self.client.limits.total_bytes:
            raise InventoryError("repository_too_large", "The repository is larger than the limit.")

    def bound(self, blobs: int) -> int:
        """Bytes a pack of so many blobs may have; for one blob exactly what a candidate may."""
        limit = self.client.limits
        return min(limit.pack_bytes, max(limit.blob_bytes, blobs * SHARE) + OVERHEAD)
