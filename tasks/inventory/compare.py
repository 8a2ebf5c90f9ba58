"""What became of the tests between two inventories: added, removed, moved, renamed, with another status.

Works on rows, so that stored results can be compared as well as fresh ones.  Subtests are part of their test and
are not compared; nor are files that could not be read on one of the two sides, for nobody knows what is in them.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from tasks.inventory.model import Inventory
from tasks.inventory.pairs import Key, Row, by_place, in_order, key_of, likely_files


class Listed(NamedTuple):
    """One file of an inventory.  tests: its rows, in order; skipped: why it could not be read."""

    path: str
    blob_id: str
    tests: Sequence[Row]
    skipped: str | None = None


class Change(NamedTuple):
    """One test on both sides."""

    before: Row
    after: Row

    @property
    def is_moved(self) -> bool:
        """Whether it stands in another file."""
        return bool(self.before["file"] != self.after["file"])

    @property
    def is_renamed(self) -> bool:
        """Whether it, or a suite around it, has another name."""
        return key_of(self.before) != key_of(self.after)

    @property
    def is_switched(self) -> bool:
        """Whether its status is another."""
        return bool(self.before["status"] != self.after["status"])


@dataclass(slots=True)
class Comparison:
    """added, removed: rows.  The others: tests of both sides; one that was renamed in a moved file is renamed.

    A test whose status changed may have been moved or renamed as well.  unknown: files left out.
    """

    added: list[Row] = field(default_factory=list)
    removed: list[Row] = field(default_factory=list)
    moved: list[Change] = field(default_factory=list)
    renamed: list[Change] = field(default_factory=list)
    status_changed: list[Change] = field(default_factory=list)
    unchanged: int = 0
    unknown: list[str] = field(default_factory=list)

    def totals(self) -> dict[str, int]:
        """How many of each."""
        groups = {name: len(getattr(self, name)) for name in GROUPS}
        return {**groups, "unchanged": self.unchanged}

    def document(self, most: int | None = None) -> dict[str, Any]:
        """Render for JSON.  most: rows of each group at most."""
        rows = {name: getattr(self, name)[:most] for name in ("added", "removed")}
        pairs = {
            name: [{"before": dict(one.before), "after": dict(one.after)} for one in getattr(self, name)[:most]]
            for name in ("moved", "renamed", "status_changed")
        }
        return {"totals": self.totals(), **rows, **pairs, "unknown": self.unknown[:most]}


#: groups of changes, in the order they are shown in
GROUPS = ("added", "removed", "moved", "renamed", "status_changed")


def listed(inventory: Inventory) -> list[Listed]:
    """Files of an inventory."""
    return [
        Listed(file.path, file.blob_id, [test.row() for test in file.tests], file.skipped) for file in inventory.files
    ]


def compare(before: Iterable[Listed], after: Iterable[Listed]) -> Comparison:
    """Follow every test from one side to the other."""
    old, new = {file.path: file for file in before}, {file.path: file for file in after}
    unknown = {path for path, file in (*old.items(), *new.items()) if file.skipped}
    found = Comparison(unknown=sorted(unknown))
    old, new = ({path: counted(file) for path, file in side.items() if path not in unknown} for side in (old, new))
    removed: list[Row] = []
    added: list[Row] = []
    for one, other in paired(old, new):
        changes, gone, come = matched(one.tests if one else (), other.tests if other else ())
        note(found, changes)
        removed += gone
        added += come
    elsewhere, gone, come = in_order(removed, added)
    note(found, (Change(*pair) for pair in elsewhere))
    found.removed, found.added = sorted(gone, key=place_of), sorted(come, key=place_of)
    for group in (found.moved, found.renamed, found.status_changed):
        group.sort(key=lambda change: place_of(change.after))
    return found


def counted(file: Listed) -> Listed:
    """A file without subtests; every row says where it stands."""
    rows = [{"file": file.path, **row} for row in file.tests if row.get("kind") != "subtest"]
    return file._replace(tests=rows)


def paired(old: Mapping[str, Listed], new: Mapping[str, Listed]) -> Iterator[tuple[Listed | None, Listed | None]]:
    """Every file with the one it was or became; alone if there is none."""
    for path in old.keys() & new.keys():
        yield old[path], new[path]
    gone = {path: old[path] for path in sorted(old.keys() - new.keys())}
    come = {path: new[path] for path in sorted(new.keys() - old.keys())}
    for path, target in likely_files(gone, come):
        yield gone.pop(path), come.pop(target)
    yield from ((file, None) for file in gone.values())
    yield from ((None, file) for file in come.values())


def matched(old: Sequence[Row], new: Sequence[Row]) -> tuple[list[Change], list[Row], list[Row]]:
    """Tests of a file with what they became in it; those that are gone; those that have come."""
    pairs, gone, come = in_order(old, new)
    further, gone, come = by_place(pairs, gone, come)
    return [Change(*pair) for pair in (*pairs, *further)], gone, come


def note(found: Comparison, changes: Iterable[Change]) -> None:
    """Sort changes into their groups."""
    for change in changes:
        if change.is_renamed:
            found.renamed.append(change)
        elif change.is_moved:
            found.moved.append(change)
        if change.is_switched:
            found.status_changed.append(change)
        elif not change.is_renamed and not change.is_moved:
            found.unchanged += 1


def place_of(row: Row) -> tuple[str, int, int, Key]:
    """Order of rows in every listing."""
    return (row["file"], row["line"], row.get("column", 1), key_of(row))
