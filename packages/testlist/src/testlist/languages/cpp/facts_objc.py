"""Facts of Objective-C in one file: classes and their bases, methods that may be tests, and examples with titles.

Methods and braces are found in masked code, as the tests of C++ are: what a file is like does not depend on macros,
which no grammar knows.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.cpp.facts_examples import Call, called, opening
from testlist.languages.cpp.shape import ClassFact, CppFacts, ExampleFact, MethodFact, Place
from testlist.languages.cpp.strip import ELSE, IF, Masked, mask
from testlist.languages.cpp.vocabulary_objc import BEGINS, ENDS, NO, YES
from testlist.model import Facts

SPEAKS: Final = re.compile(rb"@(?:interface|implementation)\b|\b(?:Quick|S)\w{0,20}Begin\b|\bS[A-Z_]{0,30}_BEGIN\b")
TOKEN: Final = re.compile(
    rb"(?P<sign>[{}\x01-\x03])"
    rb"|@(?P<word>interface|implementation|end)\b"
    rb"|-\s*+\(\s*+void\s*+\)\s*+(?P<method>test\w*+)"
    rb"|\b(?P<call>(?:qck_)?[fx]?(?:it|specify|example|pending|describe|context|sharedExamples(?:For)?)"
    rb"|(?:QuickSpec|QuickConfiguration|Spec|SharedExamples)(?:Begin|End)|(?:SPEC|SHARED_EXAMPLES|SHARED_EXAMPLE_GROUPS)_(?:BEGIN|END))\b"
)
#: a class: its name, perhaps with parameters or a category, and what it inherits
CLASS: Final = re.compile(rb"\s*+(\w++)\s*+(?:<[^<>@{}]{0,200}+>\s*+)?(?::\s*+(\w++))?")
BODY: Final = re.compile(rb"(?!\s*+:)[^{};]{0,400}+(?:;\s*+)?\{")
FIRST: Final = re.compile(rb"\s*+(XCTSkip|XCTSkipIf|XCTSkipUnless|XCTExpectFailure)\s*+\(\s*+(\w*+)")
LONGEST_NAME: Final = 300
DEEPEST: Final = 40  # titles around an example
MOST_INCLUDES: Final = 400


@dataclass(frozen=True, slots=True)
class Block:
    """One open brace.  own: what it is the body of; suites: titles around; loose: something else than a group is."""

    outer: "Block | None" = None
    own: MethodFact | ExampleFact | None = None
    inside: bool = False  # in the body of a test
    suites: tuple[str, ...] = ()
    status: str | None = None
    loose: bool = False
    when: bool = False


@dataclass(slots=True)
class Reader:
    """One pass over one file.  owner: the class whose implementation this is; spec: whose examples these are."""

    masked: Masked
    lines: list[int]
    classes: list[ClassFact] = field(default_factory=list)
    methods: list[MethodFact] = field(default_factory=list)
    examples: list[ExampleFact] = field(default_factory=list)
    owner: str = ""
    spec: str = ""
    block: Block = field(default_factory=Block)
    awaited: dict[int, Block] = field(default_factory=dict)
    saved: list[tuple[Block, bool]] = field(default_factory=list)  # at each open `#if`, and whether it leaves a choice
    choices: int = 0  # of those, how many do
    seen: dict[tuple[str, str], MethodFact] = field(default_factory=dict)

    def read(self) -> None:
        """Go through all tokens."""
        at = 0
        while (found := TOKEN.search(self.masked.code, at)) is not None:
            at = found.end()
            if found["sign"] is not None:
                self.sign(found["sign"][0], found.start())
            elif found["word"] is not None:
                self.declare(found["word"], at)
            elif found["method"] is not None:
                self.method(found["method"].decode("utf-8", "replace"), found.start(), at)
            else:
                self.call(found["call"].decode(), found.start(), at)

    def sign(self, sign: int, at: int) -> None:
        """A brace, or a conditional: every branch begins with the blocks that were open before it."""
        if sign == ord("{"):
            self.block = self.awaited.pop(at) if at in self.awaited else self.plain(at)
        elif sign == ord("}"):
            if self.block.own is not None:
                self.block.own["end"] = self.line(at)
            self.block = self.block.outer or self.block
        elif sign == IF:
            self.saved.append((self.block, at not in self.masked.plain))
            self.choices += self.saved[-1][1]
        elif self.saved and sign == ELSE:
            self.block = self.saved[-1][0]
        elif self.saved:
            self.choices -= self.saved.pop()[1]

    def plain(self, at: int) -> Block:
        """A block that is no group: what stands in it may run many times, or under a condition."""
        if self.block.inside:
            return Block(self.block, inside=True)
        around, decides = self.block, opening(self.masked.code, at)
        loose = around.loose or not decides
        return Block(around, None, around.inside, around.suites, around.status, loose, around.when or decides)

    def line(self, at: int) -> int:
        """Line of an offset, 1-based."""
        return bisect_right(self.lines, at)

    def place(self, at: int, end: int) -> Place:
        """Where something stands."""
        line = self.line(at)
        place: Place = {"line": line, "column": at - self.lines[line - 1] + 1, "end": self.line(end)}
        if self.block.when or self.choices:
            place["when"] = True
        return place

    def declare(self, word: bytes, at: int) -> None:
        """A class begins or ends; neither stands in a block."""
        self.block, self.owner = Block(), ""
        found = CLASS.match(self.masked.code, at) if word != b"end" else None
        if found is None or len(found[1]) > LONGEST_NAME:
            return
        name = found[1].decode("utf-8", "replace")
        if found[2] is not None and len(found[2]) <= LONGEST_NAME:
            self.classes.append({"name": name, "base": found[2].decode("utf-8", "replace")})
        self.owner = name if word == b"implementation" else ""

    def method(self, name: str, at: int, end: int) -> None:
        """A method that XCTest calls, if its class is a test case."""
        body = BODY.match(self.masked.code, end)
        if not self.owner or body is None or len(name) > LONGEST_NAME:
            return
        self.block = Block()  # a brace was hidden in a macro, if it is none already
        key = (self.owner, name)
        if key in self.seen:  # on another branch of a conditional
            self.seen[key].pop("when", None)
            return
        place = self.place(at, body.end())
        fact: MethodFact = {
            "owner": self.owner,
            "name": name,
            "line": place["line"],
            "column": place["column"],
            "end": place["end"],
        }
        if "when" in place:
            fact["when"] = True
        self.begun(fact, body.end())
        self.seen[key] = fact
        self.methods.append(fact)
        self.awaited[body.end() - 1] = Block(self.block, fact, inside=True)

    def begun(self, fact: MethodFact, at: int) -> None:
        """What the first statement of a test says of it."""
        found = FIRST.match(self.masked.code, at)
        if found is None:
            return
        known = {b"XCTSkip": True, b"XCTSkipIf": found[2] in YES, b"XCTSkipUnless": found[2] in NO}
        if found[1] == b"XCTExpectFailure":
            fact["status"] = "xfail"
        elif known[found[1]]:
            fact["status"] = "skipped"
        else:
            fact["when"] = True

    def call(self, word: str, at: int, end: int) -> None:
        """A file of examples begins or ends, or one of its groups or examples."""
        if word in ENDS:
            self.spec, self.block = "", Block()
            return
        may = not self.block.inside and (self.spec or word in BEGINS)
        if not may or (found := called(self.masked, word, at, end)) is None:
            return
        if word in BEGINS:
            self.spec = BEGINS[word]
            self.block = Block(suites=(found.title,))
        elif found.is_group:
            self.group(found)
        else:
            self.example(found, at)

    def group(self, found: Call) -> None:
        """A group of examples."""
        if found.brace is not None:
            around = self.block
            self.awaited[found.brace] = Block(
                around,
                suites=(*around.suites, found.title)[:DEEPEST],
                status=found.status or around.status,
                loose=around.loose and not found.is_shared,
                when=around.when,
            )

    def example(self, found: Call, at: int) -> None:
        """One example."""
        around = self.block
        place = self.place(at, at if found.brace is None else found.brace)
        fact: ExampleFact = {
            "owner": self.spec,
            "name": found.title,
            "suites": list(around.suites),
            "line": place["line"],
            "column": place["column"],
            "end": place["end"],
        }
        if "when" in place:
            fact["when"] = True
        if status := ("todo" if found.to_write else found.status or around.status):
            fact["status"] = status
        if around.loose or found.made:
            fact["dynamic"] = True
        self.examples.append(fact)
        if found.brace is not None:
            self.awaited[found.brace] = Block(around, fact, inside=True)


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - every reader takes it
    """Read one file that has no C++ in it."""
    if not SPEAKS.search(source):
        return {}
    masked = mask(source)
    facts = read(masked)
    if facts.get("methods") or facts.get("examples"):
        facts["includes"] = masked.includes[:MOST_INCLUDES]
    return {**facts}


def read(masked: Masked) -> CppFacts:
    """What a masked file has of Objective-C; what is empty is left out."""
    lines = [0, *(found.end() for found in re.finditer(rb"\n", masked.source))]
    reader = Reader(masked, lines)
    reader.read()
    facts: CppFacts = {}
    if reader.classes:
        facts["classes"] = reader.classes
    if reader.methods:
        facts["methods"] = reader.methods
    if reader.examples:
        facts["examples"] = reader.examples
    return facts
