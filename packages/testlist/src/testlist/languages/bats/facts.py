"""Facts of one Bats file: its tests, line by line as the preprocessor of Bats finds them, and what skips them."""

import re
import shlex
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.bats.facts_bodies import ALWAYS, Body, Lines
from testlist.languages.bats.facts_headings import FUNCTION
from testlist.languages.bats.shape import BatsFacts, TestFact
from testlist.model import Facts

#: functions that run before each test, or once before all tests
SETUPS: Final = frozenset({"setup", "setup_file"})
TAGS: Final = re.compile(r"[ \t]*+#[ \t]*+bats[ \t]++(test|file)_tags=(.*)")
FOCUS: Final = "bats:focus"
REGISTERS: Final = re.compile(r"[ \t]*+bats_test_function[ \t]++(.*)")
TITLE: Final = "--description"
#: options with a value, before the command that a registered test runs
VALUED: Final = frozenset({TITLE, "--tags"})
#: characters of a name that is computed
COMPUTED: Final = frozenset("$`")


@dataclass(slots=True)
class Reading:
    """One file, as far as it is read.  focused: what tags say of the next test, and of all."""

    source: Lines
    facts: BatsFacts = field(default_factory=lambda: BatsFacts(tests=[]))
    body: Body | None = None
    test: TestFact | None = None
    last: int = 0
    focused: dict[str, bool] = field(default_factory=lambda: {"test": False, "file": False})

    def line(self, place: int) -> int:
        """Take a line; where to go on."""
        text = self.source.lines[place]
        if place in self.source.headings:
            self.end()
            self.begin(*self.source.headings[place], place=place)
        elif self.body is not None:
            if self.body.take(text):
                self.end(place)
            else:
                place = self.source.end_of_text(place)
                self.last = place if text.strip() else self.last
        elif (tags := TAGS.match(text)) is not None:
            self.focused[tags[1]] = FOCUS in (one.strip() for one in tags[2].split(","))
        else:
            self.outside(text, place)
        return place + 1

    def begin(self, name: str, column: int, rest: str, *, place: int) -> None:
        """Begin a test."""
        self.test = {"name": name, "line": place + 1, "column": column, "end": place + 1}
        if any(self.focused.values()):
            self.test["focused"] = True
        self.focused["test"] = False
        self.facts["tests"].append(self.test)
        self.open(self.source.lines[place], rest, place)

    def open(self, line: str, rest: str, place: int) -> None:
        """Begin a body."""
        self.body = Body(line[: len(line) - len(line.lstrip())])
        self.last = place
        if self.body.begun(rest):
            self.end(place)

    def end(self, place: int | None = None) -> None:
        """The body is over.  place: of its last line, if one ends it."""
        if self.body is None:
            return
        if self.test is not None:
            self.test["end"] = (self.last if place is None else place) + 1
            if self.body.skips:
                self.test["skips"] = self.body.skips
        elif self.body.skips and self.facts.get("skips") != ALWAYS:
            self.facts["skips"] = self.body.skips
        self.body, self.test = None, None

    def outside(self, text: str, place: int) -> None:
        """A line outside of tests: a function of Bats, or a command that registers a test."""
        function = FUNCTION.match(text)
        if function is not None and function[1] in SETUPS:
            self.open(text, function[2], place)
        elif (registers := REGISTERS.match(text)) is not None:
            self.facts["tests"].append(registered(registers[1], text, place))


def registered(options: str, line: str, place: int) -> TestFact:
    """A test that a command registers: by its title, or else by the function that it runs."""
    words = words_of(options.rstrip("\\"))
    name, command = "", ""
    while words:
        word = words.pop(0)
        if word in VALUED and words:
            value = words.pop(0)
            name = value if word == TITLE else name
        elif not word.startswith("-"):
            command = word
            break
    column = len(line) - len(line.lstrip()) + 1
    fact: TestFact = {"name": name or command, "line": place + 1, "column": column, "end": place + 1}
    return {**fact, "dynamic": True} if not COMPUTED.isdisjoint(fact["name"]) else fact


def words_of(text: str) -> list[str]:
    """The first words of a command."""
    first = text[:1_000]
    try:
        return shlex.split(first)
    except ValueError:
        return first.split()


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - every reader has it
    """Read one file: see shape.BatsFacts."""
    text = source.decode("utf-8", "replace").replace("\r", "")
    reading = Reading(Lines(text.split("\n")))
    place = 0
    while place < len(reading.source.lines):
        place = reading.line(place)
    reading.end()
    return {key: value for key, value in reading.facts.items() if value}
