"""From masked code to tests: macro calls, the blocks that belong to them, and the suites around them."""

import re
from bisect import bisect_right
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.cpp import vocabulary
from testlist.languages.cpp.facts_arguments import Span, spans, text_of, title_of
from testlist.languages.cpp.facts_blocks import Blocks, Suite
from testlist.languages.cpp.facts_cases import DISABLED, Described, decorated, described
from testlist.languages.cpp.shape import Definition, PartFact, Place, TestFact, UseFact
from testlist.languages.cpp.strip import Masked

TOKEN: Final = re.compile(rb"[{}\x01-\x03]|\b([A-Z][A-Z0-9_]*+)\s*+\(")
#: what may stand between a call and its block
BLOCK: Final = re.compile(rb"[^{};]{0,400}+\{")
SKIPS: Final = re.compile(rb"\s*+(?:CATCH_|GTEST_)?SKIP\s*+\(")
#: after what a definition may stand
BEFORE: Final = (b"", b";", b"{", b"}", b")", b":")
LOOK_BACK: Final = 200
MOST_ALIKE: Final = 8
DEEPEST_PARTS: Final = 20


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a macro, from its name to its closing bracket."""

    macro: str
    at: int
    end: int
    arguments: list[Span]


@dataclass(slots=True)
class Reader:
    """One pass over one file.  local: macros that the file defines; aliases: names it gives to other names."""

    masked: Masked
    local: frozenset[str]
    aliases: dict[str, list[str]]
    lines: list[int]
    tests: list[TestFact] = field(default_factory=list)
    uses: list[UseFact] = field(default_factory=list)
    blocks: Blocks = field(default_factory=Blocks)
    opened: list[Suite] = field(default_factory=list)  # suites that last until their end macro
    decorators: str = ""
    failing: set[str] = field(default_factory=set)
    running: dict[str, bool] = field(default_factory=dict)  # suite -> some instantiation of it is run
    seen: dict[tuple[str, ...], list[dict[int, int]]] = field(default_factory=dict)
    twins: set[tuple[str, ...]] = field(default_factory=set)  # tests that every branch of an `#if` has

    def read(self) -> None:
        """Go through all tokens."""
        code = self.masked.code
        found = TOKEN.search(code)
        while found is not None:
            end = found.end()
            if found[1] is not None:
                end = self.call(found[1].decode(), found.start(), end - 1)
            elif found[0] == b"{":
                self.blocks.begin(found.start())
            elif found[0] != b"}":
                self.blocks.branch(found[0][0], plain=found.start() in self.masked.plain)
            elif (closed := self.blocks.end()) is not None:
                closed["end"] = self.line(found.start())
            found = TOKEN.search(code, end)

    def line(self, at: int) -> int:
        """Line of an offset, 1-based."""
        return bisect_right(self.lines, at)

    def call(self, macro: str, at: int, opened: int) -> int:
        """One macro call; returns from where to go on."""
        handler = Reader.use if self.perhaps(macro, at) else HANDLERS.get(macro)
        split = spans(self.masked.code, opened) if handler else None
        if handler is None or split is None:
            return opened + 1
        handler(self, Call(macro, at, split[1], split[0]))
        return split[1]

    def perhaps(self, macro: str, at: int) -> bool:
        """Whether a macro of the project, by any name, stands where a definition may."""
        known = macro in HANDLERS or not vocabulary.PERHAPS.search(macro)
        if self.blocks.test is not None or (known and macro not in self.local):
            return False
        before = bytes(self.masked.code[max(0, at - LOOK_BACK) : at]).rstrip(b" \t\r\n\x01\x02\x03")
        return before[-1:] in BEFORE

    def texts(self, call: Call) -> list[str]:
        """The arguments of a call."""
        return [text_of(self.masked.source, self.masked.code, span) for span in call.arguments]

    def place(self, call: Call) -> Place:
        """Where a call stands."""
        line = self.line(call.at)
        place: Place = {"line": line, "column": call.at - self.lines[line - 1] + 1, "end": self.line(call.end)}
        if any(self.blocks.conditions):
            place["when"] = True
        return place

    def brace(self, call: Call) -> int | None:
        """Offset of the brace that opens the block of a call."""
        block = BLOCK.match(self.masked.code, call.end)
        return block.end() - 1 if block else None

    def test(self, call: Call) -> None:
        """A definition of a test."""
        macro, brace = vocabulary.TESTS[call.macro], self.brace(call)
        found = described(macro, self.texts(call), self.aliases)
        decorators, self.decorators = self.decorators, ""
        if found is None or (macro.body and brace is None):
            return
        if found.loose:  # a macro of the project may have a library's name
            self.uses.append(self.used(call))
        if macro.body:
            self.blocks.leave_test()
        if macro.owner == "boost-test" and found.status is None:
            found.status = decorated(decorators)
        fact = self.within(found, self.place(call))
        if not self.is_twin(fact):
            self.tests.append(fact)
        elif sum(self.blocks.conditions) == 1:  # it is there on either branch
            self.twins.add((*fact["suites"], fact["name"]))
        if macro.body and brace is not None:
            self.skipped_inside(fact, brace)
            self.blocks.await_test(brace, fact)

    def within(self, found: Described, place: Place) -> TestFact:
        """A test with its suites and the status they give."""
        suites = list(self.opened)
        if self.blocks.suite is not None:
            suites.append(self.blocks.suite)
        boost = found.owner == "boost-test"
        own = [suite for suite in suites if (suite.owner == "boost-test") == boost]
        if found.name in self.failing:
            found.status = "xfail"
        # a suite of doctest replaces the one around it
        around = (suite.status for suite in reversed(own if boost else own[-1:]))
        return found.fact([suite.name for suite in own], place, next(filter(None, around), None))

    def is_twin(self, fact: TestFact) -> bool:
        """Whether another branch of a conditional defines the same test: only one of them is compiled."""
        key = (fact["owner"], *fact["suites"], fact["name"])
        branches = dict(self.blocks.branches)
        alike = self.seen.setdefault(key, [])
        if any(number in branches and branches[number] != branch for one in alike for number, branch in one.items()):
            return True
        if len(alike) < MOST_ALIKE:
            alike.append(branches)
        return False

    def skipped_inside(self, fact: Definition | PartFact, brace: int) -> None:
        """A test or part whose first statement skips it."""
        if SKIPS.match(self.masked.code, brace + 1):
            fact["status"] = "skipped"

    def part(self, call: Call) -> None:
        """A part of the current test."""
        test, brace = self.blocks.test, self.brace(call)
        if test is None or brace is None or len(self.blocks.parts) >= DEEPEST_PARTS:
            return
        written = ", ".join(self.texts(call))
        title, rest = title_of(written)
        made = title is None or rest[:1] == "<"
        name = " ".join(written.split()) if title is None or made else title
        place = self.place(call)
        fact: PartFact = {
            "name": name,
            "outer": list(self.blocks.parts),
            "line": place["line"],
            "column": place["column"],
            "end": place["end"],
        }
        if "when" in place:
            fact["when"] = True
        if made:
            fact["dynamic"] = True
        self.skipped_inside(fact, brace)
        test.setdefault("parts", []).append(fact)
        self.blocks.await_part(brace, fact)

    def suite(self, call: Call) -> None:
        """A suite that lasts until its end macro."""
        texts = self.texts(call)
        boost = call.macro.startswith("BOOST")
        title, rest = title_of(texts[0])
        if boost:
            rest = " ".join([*texts[1:], self.decorators])
            self.decorators = ""
        self.blocks.leave_test()
        name = texts[0] if boost else title or ""
        if name or not boost:
            owner = "boost-test" if boost else "doctest"
            self.opened.append(Suite(name, owner, decorated(rest)))

    def suite_end(self, call: Call) -> None:  # noqa: ARG002 - handlers look alike
        """The end of the innermost suite of that kind."""
        self.blocks.leave_test()
        if self.opened:
            self.opened.pop()

    def suite_block(self, call: Call) -> None:
        """A suite that is a block."""
        title, rest = title_of(self.texts(call)[0])
        brace = self.brace(call)
        if title is not None and brace is not None:
            self.blocks.leave_test()
            self.blocks.await_suite(brace, Suite(title, "doctest", decorated(rest)))

    def decorate(self, call: Call) -> None:
        """Decorators of the next definition."""
        self.decorators = ", ".join(self.texts(call))

    def expect_failures(self, call: Call) -> None:
        """The next test of a name is expected to fail."""
        texts = self.texts(call)
        if len(texts) > 1 and texts[1] != "0":
            self.failing.add(texts[0])

    def instantiate(self, call: Call) -> None:
        """Values for the tests of a suite; their prefix may disable them."""
        texts = self.texts(call)
        if len(texts) > 1:
            self.running[texts[1]] = self.running.get(texts[1], False) or not texts[0].startswith(DISABLED)

    def use(self, call: Call) -> None:
        """A call that stands for a test if its macro does."""
        fact = self.used(call)
        brace = self.brace(call)
        self.uses.append(fact)
        if brace is not None:
            self.skipped_inside(fact, brace)
            self.blocks.await_test(brace, fact)

    def used(self, call: Call) -> UseFact:
        """A call as its macro will want it."""
        texts = [text[:200] for text in self.texts(call)]
        suites = [suite.name for suite in self.opened]
        place = self.place(call)
        fact: UseFact = {
            "macro": call.macro,
            "arguments": texts,
            "suites": suites,
            "line": place["line"],
            "column": place["column"],
            "end": place["end"],
        }
        if "when" in place:
            fact["when"] = True
        if self.opened and (status := self.opened[-1].status):
            fact["status"] = status
        return fact


Handler = Callable[[Reader, Call], None]

HANDLERS: Final[dict[str, Handler]] = {
    **dict.fromkeys(vocabulary.TESTS, Reader.test),
    **dict.fromkeys(vocabulary.PARTS, Reader.part),
    **dict.fromkeys(vocabulary.OPENS, Reader.suite),
    **dict.fromkeys(vocabulary.CLOSES, Reader.suite_end),
    **dict.fromkeys(vocabulary.BLOCKS, Reader.suite_block),
    **dict.fromkeys(vocabulary.INSTANTIATES, Reader.instantiate),
    vocabulary.DECORATES: Reader.decorate,
    vocabulary.EXPECTS_FAILURES: Reader.expect_failures,
}
