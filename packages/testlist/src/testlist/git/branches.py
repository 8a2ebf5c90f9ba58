"""The branches of a repository on this machine, listed without git, as refs.py reads references."""

import os
from collections.abc import Iterator
from itertools import islice
from typing import Final

from testlist.errors import InventoryError
from testlist.git.containment import pieces, resolved
from testlist.git.layout import Layout
from testlist.git.refs import BAD_REF, OBJECT_ID

HEADS: Final = "refs/heads/"
#: entries of folders that are looked at; more are only slow
LOOKED_AT: Final = 10_000
#: bytes of packed references that are read for a list to choose from; names in a longer file can still be typed
READ: Final = 8 << 20


def branches(place: Layout, most: int) -> list[str]:
    """Names of branches, up to `most`, in order.

    Raises: InventoryError repository_damaged, repository_outside_root.
    """
    names = {*islice(_loose(place), LOOKED_AT), *islice(_packed(place), LOOKED_AT)}
    return sorted(name for name in names if not BAD_REF.search(name) and name.isprintable())[:most]


def _loose(place: Layout) -> Iterator[str]:
    """Files below refs/heads; folders that are links are not entered, as they may lead anywhere."""
    heads = place.common / HEADS
    if not heads.is_dir() or (place.root is not None and resolved(heads, place.root) != heads):
        return
    for folder, _, files in os.walk(heads):
        for file in files:
            yield os.path.relpath(os.path.join(folder, file), heads)  # noqa: PTH118 - os.walk gives text


def _packed(place: Layout) -> Iterator[str]:
    try:
        text = b"".join(pieces(place.common / "packed-refs", place.root, READ)).decode("utf-8", "replace")
    except InventoryError as error:
        if error.code != "repository_too_large":
            raise
        return
    for line in text.splitlines():
        object_id, _, name = line.partition(" ")
        if OBJECT_ID.fullmatch(object_id) and name.startswith(HEADS):
            yield name.removeprefix(HEADS)
