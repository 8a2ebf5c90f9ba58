"""The part of an inventory that is asked for: tests with some values, below some paths."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from fnmatch import fnmatchcase
from glob import escape
from itertools import zip_longest
from posixpath import join, normpath
from typing import Final, NamedTuple

from testlist.languages import all_frameworks
from testlist.model import KINDS, STATUSES, Checks, FileInventory, Inventory, Test

#: asks for what tests check, too
CANNOT_FAIL: Final = "cannot_fail"
#: fields of a test that may be asked for, with what they may be; the names of frameworks are looked up when asked for
VALUES: Final[Mapping[str, Sequence[str]]] = {
    "status": STATUSES,
    "kind": tuple(sorted(KINDS)),
    "framework": (),
    "conditional": ("false", "true"),
    "dynamic": ("false", "true"),
    CANNOT_FAIL: ("false", "true"),
}


class UsageError(ValueError):
    """What was asked for makes no sense, and why."""


class PathPattern(NamedTuple):
    """A path from the root of the repository.  path: as a file or folder is called; pattern: with what `*` means."""

    path: str
    pattern: str


@dataclass(frozen=True, slots=True)
class Selection:
    """Tests to keep.

    only: field -> values, one of which a test must have; patterns: of paths, one of which a file must match.
    """

    only: Mapping[str, AbstractSet[str]]
    patterns: Sequence[PathPattern]

    @classmethod
    def of(cls, only: Sequence[str], paths: Sequence[str], within: str = "") -> "Selection":
        """Read what was typed.

        only: `FIELD=VALUE`, checked by `mistake_in`; several values of a field are alternatives.
        paths: relative to `within`, a folder.  Raises: UsageError for one outside of the repository.
        """
        wanted: dict[str, set[str]] = {}
        for field, _, value in (one.partition("=") for one in only):
            wanted.setdefault(field, set()).add(value)
        return cls(wanted, [_pattern(path, within) for path in paths])

    def applied(self, inventory: Inventory) -> Inventory:
        """The inventory with the selected files and tests alone, of which its totals are then."""
        if not self.only and not self.patterns:
            return inventory
        files = (file for file in inventory.files if self._has_file(file.path))
        return inventory._replace(files=tuple(self._selected(file) for file in files))

    def _selected(self, file: FileInventory) -> FileInventory:
        if not self.only:
            return file
        kept = [pair for pair in zip_longest(file.tests, file.checks) if self._has(*pair)]
        checks = tuple(checks for _, checks in kept) if file.checks else ()
        return file._replace(tests=tuple(test for test, _ in kept), checks=checks)

    def _has_file(self, path: str) -> bool:
        return not self.patterns or any(_matches(path, pattern) for pattern in self.patterns)

    def _has(self, test: Test, checks: Checks | None) -> bool:
        cannot_fail = checks is not None and checks.cannot_fail is not None
        return all(
            _text(cannot_fail if field == CANNOT_FAIL else getattr(test, field)) in values
            for field, values in self.only.items()
        )


def mistake_in(only: Sequence[str]) -> str | None:
    """What is wrong with a list of `FIELD=VALUE`, and what is allowed; None if nothing is."""
    for one in only:
        field, sign, value = one.partition("=")
        if not sign or field not in VALUES:
            return f"--only {one!r}: expected FIELD=VALUE with one of the fields {', '.join(VALUES)}."
        allowed = VALUES[field] or sorted(framework.name for framework in all_frameworks())
        if value not in allowed:
            return f"--only {one!r}: a {field} is one of {', '.join(allowed)}."
    return None


def _pattern(path: str, within: str) -> PathPattern:
    """The path from the root of the repository.  Raises: UsageError."""
    found = normpath(join(within, path))
    if path.startswith("/") or found == ".." or found.startswith("../"):
        raise UsageError(f"The path {path!r} lies outside of the repository; expected one from its folder.")
    return PathPattern(found, normpath(join(escape(within), path)))


def _matches(path: str, wanted: PathPattern) -> bool:
    """Whether a pattern means the file, a folder above it, or has a `*` that takes slashes as well: as in git."""
    return wanted.path in {".", path} or path.startswith(f"{wanted.path}/") or fnmatchcase(path, wanted.pattern)


def _text(value: object) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
