"""From a repository to where Git may fetch it: public addresses only, and nothing outside LOCAL_REPOS_ROOT."""

import ipaddress
import socket
from dataclasses import replace
from pathlib import Path

from app.domain.repositories import Repository
from app.errors import CommitNotFound, InvalidInput, RepositoryNotFound, Unavailable
from app.settings import Settings
from tasks.inventory.errors import InventoryError
from tasks.inventory.git import Source, resolve
from tasks.inventory.gitprocess import GitLimits

#: A submission waits no longer than this for a host's answer.
RESOLVE_SECONDS = 15

UNICAST = ipaddress.IPv6Network("2000::/3")
NAT64 = ipaddress.IPv6Network("64:ff9b::/96")
SIX_TO_FOUR = ipaddress.IPv6Network("2002::/16")


def source_of(repository: Repository, settings: Settings) -> Source:
    """Where to fetch a repository.  Raises: InventoryError repository_not_found, host_refused or git_failed."""
    if repository.is_local:
        return Source.local(_local_path(repository.name, settings.local_repos_root))
    return Source.remote(repository.url, address=public_address(repository.host))


def public_address(host: str) -> str:
    """Look a host up once; Git is then pinned to the answer, so a second look-up cannot lead elsewhere.

    Raises: InventoryError host_refused when any of its addresses is not a public one.
    """
    try:
        found = socket.getaddrinfo(host, 443, type=socket.SOCK_STREAM)
    except OSError as error:
        raise InventoryError("git_failed", f"The host {host} cannot be reached right now.") from error
    addresses = [str(info[4][0]) for info in found]
    for address in addresses:
        if not _is_public(ipaddress.ip_address(address.partition("%")[0])):
            raise InventoryError("host_refused", f"The host {host} leads to an address that is not public.")
    return addresses[0]


def resolve_commit(
    repository: Repository, ref: str | None, commit: str | None, settings: Settings
) -> tuple[str, str | None]:
    """The commit a submission means, and the name of its branch or tag if known.

    Raises: RepositoryNotFound, CommitNotFound, InvalidInput for an empty repository, Unavailable when the host is away.
    """
    if commit and not repository.is_local:
        return commit, ref  # whether it exists is found out by the worker, which fetches it anyway
    try:
        limits = replace(GitLimits(), wall_seconds=RESOLVE_SECONDS)
        found, name = resolve(source_of(repository, settings), commit or ref, limits=limits)
    except InventoryError as error:
        raise _problem(error) from error
    return found, None if commit or name == "HEAD" else name


def _is_public(address: ipaddress.IPv4Address | ipaddress.IPv6Address) -> bool:
    if isinstance(address, ipaddress.IPv6Address):
        if (inner := _inner(address)) is not None:
            return _is_public(inner)
        # the library calls whatever it does not know global; the Internet is in 2000::/3 only
        if address not in UNICAST or address in SIX_TO_FOUR:
            return False
    return address.is_global and not address.is_multicast


def _inner(address: ipaddress.IPv6Address) -> ipaddress.IPv4Address | None:
    """The IPv4 address it leads to: written as IPv6, or behind a NAT64."""
    if address in NAT64:
        return ipaddress.IPv4Address(int(address) & 0xFFFF_FFFF)
    return address.ipv4_mapped


def _local_path(name: str, root: Path | None) -> Path:
    missing = InventoryError("repository_not_found", f"There is no local repository {name!r} here.")
    if root is None:
        raise missing
    root = root.expanduser().resolve()
    path = (root / name).resolve()
    # a symbolic link below the root may lead anywhere; what counts is where it ends
    if path == root or not path.is_relative_to(root) or not path.is_dir():
        raise missing
    return path


def _problem(error: InventoryError) -> Exception:
    match error.code:
        case "repository_not_found" | "access_denied":
            return RepositoryNotFound(error.message)
        case "commit_not_found":
            return CommitNotFound(error.message)
        case "git_timeout" | "git_failed":
            return Unavailable(error.message, retry_after=30)
    return InvalidInput(error.message, errors=[{"pointer": "/repository", "detail": error.message}], code=error.code)
