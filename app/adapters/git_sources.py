"""Where Git may fetch a repository: public addresses only, and nothing outside LOCAL_REPOS_ROOT."""

import ipaddress
import os
import socket
from dataclasses import replace
from pathlib import Path

from testlist.errors import InventoryError
from testlist.git.containment import outside, resolved
from testlist.git.fetch import Source, branches_of, resolve
from testlist.git.process import GitLimits

from app.domain.addresses import is_public
from app.domain.repositories import Repository
from app.errors import CommitNotFound, GitHostUnreachable, InvalidInput, Message, RepositoryNotFound
from app.settings import Settings

MOST_BRANCHES = 500


def source_of(repository: Repository, settings: Settings) -> Source:
    """Where to fetch a repository.

    Raises: InventoryError repository_not_found, repository_outside_root, repository_damaged, host_refused, git_failed.
    """
    if repository.is_local:
        path, root = _local_path(repository.name, settings.local_repos_root)
        return Source.local(path, root=root)
    return Source.remote(repository.url, address=public_address(repository.host))


def public_address(host: str) -> str:
    """Resolve a host once; Git is then pinned to the answer, so a second resolution cannot lead elsewhere.

    Raises: InventoryError host_refused if any of its addresses is not public.
    """
    try:
        found = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InventoryError("git_failed", f"The host {host} cannot be reached right now.") from error
    addresses = [str(info[4][0]) for info in found]
    for address in addresses:
        if not is_public(ipaddress.ip_address(address.partition("%")[0])):
            raise InventoryError("host_refused", f"The host {host} leads to an address that is not public.")
    return addresses[0]


def resolve_commit(
    repository: Repository, ref: str | None, commit: str | None, settings: Settings
) -> tuple[str, str | None]:
    """The commit that a submission means, and the name of its branch or tag if known.

    Raises: RepositoryNotFound, CommitNotFound, InvalidInput for an empty repository, GitHostUnreachable.
    """
    if commit and not repository.is_local:
        return commit, ref  # the worker, which fetches it anyway, finds out whether it exists
    try:
        limits = replace(GitLimits(), wall_seconds=settings.lookup_timeout.total_seconds())
        found, name = resolve(source_of(repository, settings), commit or ref, limits=limits)
    except InventoryError as error:
        if ref and not commit and error.code == "commit_not_found":
            raise CommitNotFound(Message("The repository has no branch or tag %(ref)s.", ref=repr(ref))) from error
        raise _problem(error) from error
    return found, None if commit or name == "HEAD" else name


def branches(repository: Repository, settings: Settings) -> list[str]:
    """Names of branches of a local repository, in order; none of others, whose hosts would have to be asked.

    Raises: RepositoryNotFound, InvalidInput.
    """
    if not repository.is_local:
        return []
    try:
        return branches_of(source_of(repository, settings), MOST_BRANCHES)
    except InventoryError as error:
        raise _problem(error) from error


def _local_path(name: str, root: Path | None) -> tuple[Path, Path]:
    """(the repository, the root), both resolved."""
    missing = InventoryError("repository_not_found", f"There is no local repository {name!r} here.")
    if root is None:
        raise missing
    root = Path(os.path.realpath(root.expanduser()))
    path = root / name
    if path.parent != root or name in ("", "..", "."):
        raise missing
    # a symbolic link below the root may lead anywhere, so its target decides
    found = resolved(path, root)
    if found == root:
        raise outside()
    if found is None or not found.is_dir():
        raise missing
    return found, root


def _problem(error: InventoryError) -> Exception:
    match error.code:
        case "repository_not_found" | "access_denied":
            return RepositoryNotFound(error.message)
        case "commit_not_found":
            return CommitNotFound(error.message)
        case "git_timeout" | "git_failed":
            return GitHostUnreachable(error.message, retry_after=30)
    return InvalidInput(error.message, errors=[{"pointer": "/repository", "detail": error.message}], code=error.code)
