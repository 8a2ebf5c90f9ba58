"""Facts of one Robot Framework file: its tests and tasks, and what its settings say of all of them."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.robot.facts_lines import Statement, statements
from testlist.languages.robot.shape import RobotFacts, Said, TestFact
from testlist.languages.robot.vocabulary import BEGIN, BRANCHES, DRIVER, END, HEADINGS, LEAVING_OUT, NONE, SETTINGS
from testlist.model import Facts

ALWAYS: Final = "always"
MAYBE: Final = "maybe"
BLANKS: Final = re.compile(r"\s+")
#: `${value} =` in front of a keyword
ASSIGNED: Final = re.compile(r"[$@&]\{.*\}\s?=?")


@dataclass(slots=True)
class Reading:
    """One file, as far as it is read.  depth: blocks around a statement; rows: of data that the test has so far."""

    facts: RobotFacts = field(default_factory=lambda: RobotFacts(tests=[]))
    section: str = ""
    test: TestFact | None = None
    depth: int = 0

    def take(self, one: Statement) -> None:
        """Take a statement."""
        first = one.cells[0]
        if first.startswith("*"):
            self.section = HEADINGS.get(_plain(first.strip("* ")), "")
            self.test = None
        elif self.section == "settings":
            self.setting(_plain(first), one.cells[1:])
        elif self.section == "tests":
            rest = one.cells[1:]
            if first.strip():
                self.begin(first.strip(), one)
            if self.test is not None:
                self.test["end"] = one.last
                if rest := [cell.strip() for cell in rest if cell.strip()]:
                    self.body(rest, self.test)

    def begin(self, name: str, one: Statement) -> None:
        """Begin a test."""
        self.test = {"name": name, "line": one.line, "column": one.column, "end": one.last}
        self.facts["tests"].append(self.test)
        self.depth = 0

    def setting(self, name: str, cells: Sequence[str]) -> None:
        """A setting of the file."""
        role, given = SETTINGS.get(name, ""), [cell.strip() for cell in cells if cell.strip()]
        if role == "test tags":
            _tagged(self.facts, given)
        elif role in ("test setup", "suite setup") and given:
            _skips(self.facts, skip_of(given))
        elif role == "test template" and given:
            self.facts["templated"] = _plain(given[0]) != NONE
        elif role == "library" and given and given[0] == DRIVER:
            self.facts["driven"] = True
        elif role == "name" and given:
            self.facts["name"] = " ".join(given)

    def body(self, cells: list[str], test: TestFact) -> None:
        """A statement of a test."""
        first = cells[0]
        if first.startswith("[") and first.endswith("]"):
            self.own(SETTINGS.get(_plain(first[1:-1]), ""), cells[1:], test)
            return
        if first == END:
            self.depth -= 1
        elif first in BEGIN:
            self.depth += 0 if first == "IF" and len(cells) > 2 else 1  # an IF of one line has a keyword
            test["blocks"] = True
        elif first not in BRANCHES:
            test["rows"] = test.get("rows", 0) + 1
        is_data = test.get("templated", self.facts.get("templated", False))  # a row that skips skips no other
        found = skip_of(cells)
        _skips(test, MAYBE if found and (self.depth > 0 or is_data) else found)

    def own(self, role: str, given: Sequence[str], test: TestFact) -> None:
        """A setting of a test."""
        if role == "tags":
            _tagged(test, given)
            if dropped := [tag for one in given if (tag := _tag(one).removeprefix("-")) != _tag(one)]:
                test["untagged"] = dropped
        elif role == "setup" and given:
            _skips(test, skip_of(given))
        elif role == "template":
            test["templated"] = bool(given) and _plain(given[0]) != NONE


def _plain(word: str) -> str:
    return BLANKS.sub(" ", word).strip().lower()


def _keyword(cell: str) -> str:
    """A name of a keyword as it is compared: without blanks and underscores."""
    return cell.replace(" ", "").replace("_", "").lower().removeprefix("builtin.")


def _tag(cell: str) -> str:
    return cell.replace(" ", "").lower()


def _tagged(said: Said, given: Sequence[str]) -> None:
    if tags := sorted(LEAVING_OUT.intersection(map(_tag, given))):
        said["tags"] = sorted({*said.get("tags", ()), *tags})


def skip_of(cells: Sequence[str]) -> str:
    """Whether a statement skips its test: "always" or "maybe", or an empty text."""
    words = [_keyword(cell) for cell in cells if not ASSIGNED.fullmatch(cell)]
    if words[:1] == ["skip"]:
        return ALWAYS
    return MAYBE if "skip" in words or (words and words[0].startswith("skip")) else ""


def _skips(said: Said, found: str) -> None:
    if found and said.get("skips") != ALWAYS:
        said["skips"] = found


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - every reader has it
    """Read one file: see shape.RobotFacts."""
    reading = Reading()
    for one in statements(source.decode("utf-8", "replace").removeprefix("\ufeff")):
        reading.take(one)
    return {key: value for key, value in reading.facts.items() if value}
