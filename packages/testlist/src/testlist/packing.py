"""Inventories and facts as bytes, and back."""

import json
import zlib
from collections.abc import Sequence
from typing import Any, Final

from testlist.model import Basis, FileInventory, Folder, Inventory, ReadFiles, Test
from testlist.version import PARSER_VERSION

LEVEL: Final = 1  # of compression: three times smaller, and as fast as the disk


def packed(value: object) -> bytes:
    """JSON, compressed."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), LEVEL)


def unpacked(content: bytes) -> Any:
    """What was packed.  Raises: ValueError, zlib.error."""
    return json.loads(zlib.decompress(content))


def packed_inventory(found: Inventory) -> bytes:
    """All of it but the commit and what its tests check."""
    files = [[*file[:3], [test[1:] for test in file.tests], file.skipped, file.hints] for file in found.files]
    return packed({"files": files, "unread": dict(found.unread), "basis": found.basis})


def unpacked_inventory(content: bytes, commit: str) -> Inventory:
    """The inventory under a commit.  Raises: ValueError, TypeError, KeyError, zlib.error."""
    known = unpacked(content)
    files = (
        FileInventory(path, blob, framework, tuple(_test(path, one) for one in tests), skipped, tuple(hints))
        for path, blob, framework, tests, skipped, hints in known["files"]
    )
    return Inventory(commit, tuple(files), PARSER_VERSION, known["unread"], basis=_basis(known["basis"]))


def _test(path: str, values: Sequence[Any]) -> Test:
    framework, suites, *others = values
    return Test(path, framework, tuple(suites), *others)


def _basis(known: Sequence[Any] | None) -> Basis | None:
    if known is None:
        return None
    blobs, folders, configs, read, uses = known
    trees = {path: Folder(*one) for path, one in folders.items()}
    return Basis(blobs, trees, configs, {name: ReadFiles(*one) for name, one in read.items()}, uses)
