"""Inventories and facts as bytes, and back.

An inventory names each path once, and means it by its number everywhere else: hundreds of tests may use the same files.
"""

import json
import zlib
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice, repeat
from operator import attrgetter
from typing import Any, Final

from testlist.garbage_collection import rare_collections
from testlist.model import Basis, FileInventory, Folder, Inventory, ReadFiles, Test
from testlist.version import PARSER_VERSION

LEVEL: Final = 1  # of compression: three times smaller, and as fast as the disk
#: letters of paths, titles and hints of an inventory that is packed; more would take hundreds of MB on the way
MOST_LETTERS: Final = 60_000_000

#: what many tests have in common
FEW: Final = frozenset({"framework", "suites", "status", "kind", "dynamic", "conditional"})
#: path -> its number
Numbers = Mapping[str, int]


def packed(value: object) -> bytes:
    """JSON, compressed."""
    return zlib.compress(json.dumps(value, separators=(",", ":")).encode(), LEVEL)


def unpacked(content: bytes) -> Any:
    """What was packed.  Raises: ValueError, zlib.error."""
    return json.loads(zlib.decompress(content))


def packed_inventory(found: Inventory) -> bytes | None:
    """All of it but the commit and what its tests check; None for what is too large to be worth it."""
    basis = found.basis
    blobs = {file.path: file.blob_id for file in found.files} if basis is None else basis.blobs
    if _letters(found, blobs) > MOST_LETTERS:
        return None
    numbers = {path: number for number, path in enumerate(blobs)}
    files = [[numbers[file.path], file.framework, len(file.tests), file.skipped, file.hints] for file in found.files]
    tests = found.tests
    columns = {name: _column(name, tests) for name in Test._fields[1:]}
    known = {"blobs": blobs, "files": files, "tests": columns, "unread": dict(found.unread), "final": found.is_final}
    return packed(known | {"basis": None if basis is None else _packed_basis(basis, numbers)})


def _column(name: str, tests: Sequence[Test]) -> list[Any]:
    """One value of all tests; for one of FEW each different one, and which one each test has."""
    values = list(map(attrgetter(name), tests))
    if name not in FEW:
        return values
    different = {value: number for number, value in enumerate(dict.fromkeys(values))}
    return [list(different), [different[value] for value in values]]


def _letters(found: Inventory, blobs: Mapping[str, str]) -> int:
    texts = chain.from_iterable((test.name, *test.suites) for file in found.files for test in file.tests)
    folders = () if found.basis is None else found.basis.folders
    return sum(map(len, chain(blobs, folders, texts, *(file.hints for file in found.files))))


def _packed_basis(basis: Basis, numbers: Numbers) -> list[Any]:
    def numbered(lists: Mapping[str, Sequence[str]] | None) -> list[list[Any]] | None:
        return None if lists is None else [[numbers[path], _numbers(lists[path], numbers)] for path in lists]

    read = {
        name: [_numbers(one.candidates, numbers), _numbers(one.followed, numbers), numbered(one.links)]
        for name, one in basis.read.items()
    }
    configs = [[numbers[path], form] for path, form in basis.configs.items()]
    return [basis.folders, configs, read, numbered(basis.uses), basis.checked, basis.blob_bytes]


def _numbers(paths: Sequence[str], numbers: Numbers) -> list[int]:
    return [numbers[path] for path in paths]


def unpacked_inventory(content: bytes, commit: str) -> Inventory:
    """The inventory under a commit.  Raises: ValueError, TypeError, KeyError, IndexError, zlib.error."""
    with rare_collections():
        known = unpacked(content)
        blobs: dict[str, str] = known["blobs"]
        paths = list(blobs)
        of_tests = chain.from_iterable(repeat(paths[number], many) for number, _, many, _, _ in known["files"])
        tests = map(Test, of_tests, *(_values(name, known["tests"][name]) for name in Test._fields[1:]))
        files = tuple(
            FileInventory(
                paths[number], blobs[paths[number]], framework, tuple(islice(tests, many)), skipped, tuple(hints)
            )
            for number, framework, many, skipped, hints in known["files"]
        )
        basis = None if known["basis"] is None else _basis(blobs, paths, known["basis"])
        return Inventory(commit, files, PARSER_VERSION, known["unread"], known["final"], basis)


def _values(name: str, column: Sequence[Any]) -> Iterable[Any]:
    if name not in FEW:
        return column
    different, numbers = column
    return map((list(map(tuple, different)) if name == "suites" else different).__getitem__, numbers)


def _basis(blobs: Mapping[str, str], paths: Sequence[str], known: Sequence[Any]) -> Basis:
    def named(lists: Sequence[Any] | None) -> dict[str, list[str]] | None:
        return None if lists is None else {paths[number]: [paths[one] for one in ones] for number, ones in lists}

    folders, configs, read, uses, checked, blob_bytes = known
    files = {
        name: ReadFiles([paths[one] for one in candidates], [paths[one] for one in followed], named(links))
        for name, (candidates, followed, links) in read.items()
    }
    trees = {path: Folder(*one) for path, one in folders.items()}
    formats = {paths[number]: form for number, form in configs}
    return Basis(blobs, trees, formats, files, named(uses), checked, blob_bytes)
