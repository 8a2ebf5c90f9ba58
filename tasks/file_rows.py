"""A file of the engine's inventory, as the service stores it."""

from collections.abc import Iterator, Mapping
from itertools import zip_longest
from typing import Any, Final, get_args

from testlist import FileInventory, Inventory, Test
from testlist.kit.bodies import RELATIONS, Idle, Passes
from testlist.model import Checks

from app.domain.inventories import Checked
from app.store.analyses.inventories import FileRow

#: checks of one test that are stored, and functions that it calls; all of its checks are counted
MOST_CHECKS: Final = 50
#: what is kept of a check, and what it has to be: it comes from a hostile file
MEMBERS: Final[Mapping[str, type]] = {
    "line": int, "relation": str, "negated": bool, "subject": str, "expected": str, "tolerance": str, "message": str,
    "idle": str, "nested": bool, "by": str, "file": str,
}  # fmt: skip
IDLE: Final = frozenset(get_args(Idle))
PASSES: Final = frozenset(get_args(Passes))


def file_rows(found: Inventory, digests: Mapping[str, bytes]) -> Iterator[FileRow]:
    """The files one by one: as dicts, 100,000 tests take 100 MB.  digests: of unchanged files, by path."""
    for file in found.files:
        digest = digests.get(file.path)
        yield (
            file_row(file)
            if digest is None
            else FileRow(
                file.path, file.blob_id, file.framework, (), file.skipped, digest=b"" if file.skipped else digest
            )
        )


def file_row(file: FileInventory) -> FileRow:
    """The file, with what its tests check where that is known."""
    return FileRow(
        file.path,
        file.blob_id,
        file.framework,
        [_row(test, checks) for test, checks in zip_longest(file.tests, file.checks[: len(file.tests)])],
        file.skipped,
        file.hints,
        [None if checks is None else _checked(checks) for checks in file.checks],
    )


def _row(test: Test, checks: Checks | None) -> dict[str, object]:
    """A row.  check_count: checks that decide something, with those that the test reaches through other functions."""
    row = test.row()
    if checks is not None:
        row["check_count"] = sum(check.get("idle") not in IDLE for check in checks.checks)
        if checks.cannot_fail in PASSES:
            row["cannot_fail"] = checks.cannot_fail
    return row


def _checked(checks: Checks) -> Checked:
    kept = [_check(check) for check in checks.checks if check.get("relation") in RELATIONS]
    return {"checks": kept[:MOST_CHECKS], "subjects": list(checks.subjects[:MOST_CHECKS])}


def _check(check: Mapping[str, Any]) -> dict[str, Any]:
    known = {name: check[name] for name, kind in MEMBERS.items() if isinstance(check.get(name), kind)}
    return known | ({"value": check["value"]} if "value" in check else {})
