"""References of a repository on this machine, read without git: by name to an object id.

git would read the repository's configuration on its way, which may include any file, and follow links anywhere.
"""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Final, NamedTuple

from testlist.git.containment import content, damaged, pieces
from testlist.git.layout import Layout

OBJECT_ID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")
#: what git-check-ref-format forbids, and a leading dash
BAD_REF: Final = re.compile(r"^[-/.]|\.\.|//|@\{|[\x00-\x20\x7f~^:?*\[\\]|\.lock$|[/.]$")
#: how a tag begins
TAG: Final = re.compile(rb"object ([0-9a-f]{40}|[0-9a-f]{64})\ntype (?:commit|tag)\n")
#: where git looks for a name, in its order
PLACES: Final = ("{}", "refs/{}", "refs/tags/{}", "refs/heads/{}", "refs/remotes/{}", "refs/remotes/{}/HEAD")
#: files beside HEAD that are references too
PSEUDO: Final = re.compile(r"[A-Z_]+")
#: references that lead to references, as in git
DEPTH: Final = 5
#: bytes of a reference, and of the file of packed ones (a million of them take 70 MB)
REFERENCE, PACKED = 4_096, 128 << 20


class Found(NamedTuple):
    """Where a name leads.  target: the last reference; object_id: None for a branch without a commit."""

    target: str
    object_id: str | None


def lookup(place: Layout, name: str) -> Found | None:
    """Find a reference as git does; None if there is none.

    Raises: InventoryError repository_damaged, repository_outside_root, repository_too_large.
    """
    for pattern in PLACES:
        full = pattern.format(name)
        if full.startswith("refs/") or PSEUDO.fullmatch(full):
            found = _followed(place, full)
            if found is not None:
                return found
    return None


def branch(place: Layout) -> str:
    """The branch that HEAD is on; HEAD if it is on none."""
    found = lookup(place, "HEAD")
    return "HEAD" if found is None else found.target.removeprefix("refs/heads/")


def _followed(place: Layout, name: str) -> Found | None:
    """Follow a reference to its end."""
    first = name
    for _ in range(DEPTH):
        value = _loose(place, name)
        if value is None:
            packed = _packed(place, name)
            return None if packed is None and name == first else Found(name, packed)
        if OBJECT_ID.fullmatch(value):
            return Found(name, value)
        name = value.removeprefix("ref:").strip()
        if not value.startswith("ref:") or not name.startswith("refs/") or BAD_REF.search(name):
            raise damaged("a reference in it cannot be read")
    raise damaged("a reference leads to itself")


def _loose(place: Layout, name: str) -> str | None:
    path = (place.head if PSEUDO.fullmatch(name) else place.common) / name
    if link := _link(path):
        return f"ref: {link}"
    raw = content(path, place.root, REFERENCE)
    if raw is None:
        return None
    text = raw.decode("utf-8", "replace").strip()
    return text if text.startswith("ref:") else text.split(maxsplit=1)[0] if text else ""


def _link(path: Path) -> str | None:
    """A reference by link, git's oldest form: HEAD -> refs/heads/main."""
    try:
        target = str(path.readlink())
    except OSError:
        return None
    return target if target.startswith("refs/") else None


def _packed(place: Layout, name: str) -> str | None:
    """Look a full name up in the file of packed references."""
    wanted = b" " + name.encode("utf-8", "surrogateescape")
    for line in _lines(pieces(place.common / "packed-refs", place.root, PACKED), wanted):
        object_id = line.removesuffix(wanted).decode("ascii", "replace")
        if line.endswith(wanted) and OBJECT_ID.fullmatch(object_id):
            return object_id
    return None


def _lines(chunks: Iterator[bytes], wanted: bytes) -> Iterator[bytes]:
    """Whole lines of those pieces that hold what is wanted; a file of a million lines is not taken apart."""
    rest = b""
    for chunk in chunks:
        whole, newline, rest = (rest + chunk).rpartition(b"\n")
        if newline and wanted in whole:
            yield from whole.split(b"\n")
        if len(rest) > REFERENCE:
            raise damaged("its packed references cannot be read")
    yield rest
