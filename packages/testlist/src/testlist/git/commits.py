"""What commits say: their root folder, and when they were made."""

import re
from datetime import UTC, datetime, timedelta
from typing import Final

from testlist.errors import InventoryError
from testlist.git.containment import damaged
from testlist.git.objects import Objects

TREE: Final = re.compile(rb"tree ([0-9a-f]{40}|[0-9a-f]{64})\n")
PARENT: Final = re.compile(rb"^parent ([0-9a-f]{40}|[0-9a-f]{64})$", re.MULTILINE)
COMMITTER: Final = re.compile(rb"^committer .*> ([0-9]{1,20}) ", re.MULTILINE)
EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
#: the year 2100: a later time of a commit is made up, and would overflow what stores it
LATEST: Final = 4_102_444_800
#: commits of one second that are told apart
SAME_SECOND: Final = 1_000


def root_of(objects: Objects, commit: str) -> str:
    """The id of a commit's root folder.  Raises: InventoryError commit_not_found, repository_damaged."""
    content = content_of(objects, commit)
    if content is None:
        raise InventoryError("commit_not_found", "The repository has no such commit.")
    found = TREE.match(content)
    if found is None:
        raise damaged("the commit cannot be read")
    return found[1].decode("ascii")


def committed_at(objects: Objects, commit: str) -> datetime | None:
    """When the commit was made, by its committer; None where it does not say.

    Many commits are made in one second by a script: the microseconds count the ancestors of the same second, so
    that instants follow the history.
    """
    first = _second(_head(objects, commit))
    if first is None:
        return None
    seen, next_ones = {commit}, [commit]
    while next_ones and len(seen) < SAME_SECOND:
        parents = [one.decode("ascii") for one in PARENT.findall(_head(objects, next_ones.pop()))]
        for parent in parents:
            if parent not in seen and _second(_head(objects, parent)) == first:
                seen.add(parent)
                next_ones.append(parent)
    return EPOCH + timedelta(seconds=min(first, LATEST), microseconds=len(seen) - 1)


def content_of(objects: Objects, commit: str) -> bytes | None:
    """What a commit says; None if there is none.  Raises: InventoryError repository_too_large."""
    header = objects.headers([commit]).get(commit)
    if header is None or header.kind != "commit" or header.object_id != commit:
        return None
    return objects.one(header, objects.limits.message_bytes)


def _head(objects: Objects, commit: str) -> bytes:
    """What it says above its message; nothing if it is not here, as beyond the depth of a fetch."""
    return (content_of(objects, commit) or b"").partition(b"\n\n")[0]


def _second(head: bytes) -> int | None:
    found = COMMITTER.search(head)
    return None if found is None else int(found[1])
