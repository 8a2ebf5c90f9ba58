"""Where the bodies of real tests stand, for seed_passing_tests.py, and whether something may run around them.

A test with something around it may fail of that, so a body that cannot fail makes no test of it that cannot.
"""

import re
from collections.abc import Iterator, Mapping
from textwrap import dedent
from typing import Final, NamedTuple

from testlist import Test
from testlist.languages.cpp.facts import reading
from testlist.languages.cpp.facts_arguments import spans
from testlist.sandbox.syntax import parse
from tree_sitter import Node

#: what holds the statements of a test
BLOCKS: Final[Mapping[str, frozenset[str]]] = {
    "python": frozenset({"block"}), "javascript": frozenset({"statement_block"}), "go": frozenset({"block"}),
    "java": frozenset({"block"}), "kotlin": frozenset({"block"}), "php": frozenset({"compound_statement"}),
    "ruby": frozenset({"body_statement"}), "rust": frozenset({"block"}), "csharp": frozenset({"block"}),
    "swift": frozenset({"function_body"}),
}  # fmt: skip
#: languages whose blocks have no braces
OPEN: Final = frozenset({"python", "ruby"})
#: what stands before the body of a test that takes nothing, gives nothing and waits for nothing
HEADS: Final[Mapping[str, str]] = {
    "python": r"(?<!async )def \w+\((?:self)?\)(?: -> None)?:\s*\Z",
    "javascript": r"(?:\w+\(\s*)(?:'[^'\n]*'|\"[^\"\n]*\"|`[^`$]*`),\s*(?:async )?(?:function )?\(\)(?: =>)? ?\Z",
    "go": r"func Test\w*\(t \*testing\.T\) \Z",
    "java": r"void \w+\(\)(?: throws [\w., ]+)?\s*\Z",
    "kotlin": r"fun (?:\w+|`[^`\n]+`)\(\)(?:: Unit)? \Z",
    "php": r"function \w+\(\)(?:: ?void)?\s*\Z",
    "ruby": r"(?:def test_\w+|\bit (?:'[^'\n]*'|\"[^\"#\n]*\") do|\btest (?:'[^'\n]*'|\"[^\"#\n]*\") do)\s*\Z",
    "rust": r"\A\s*(?:#\[test\]\s*)?fn \w+\(\) \Z",
    "csharp": r"public void \w+\(\)\s*\Z",
    "swift": r"func (?:\w+|`[^`\n]+`)\(\)(?: async)?(?: throws)? \Z",
    "cpp": r"\A\s*(?:TEST\(\s*\w+,\s*\w+\)|TEST_CASE\(\"[^\"\n]*\"(?:, \"[^\"\n!]*\")?\)"
    r"|BOOST_AUTO_TEST_CASE\( ?\w+ ?\))\s*\Z",
}
#: a field of a class whose value is worked out, by its indentation
FIELD: Final = r"^(?: {2}| {4}|\t)\w[^(){};]*=[^;]*\("
#: what in a file may run around its tests, or ask more of them
AROUND: Final[Mapping[str, tuple[str, ...]]] = {
    "python": (
        r"autouse|set_?up|tear_?down|setUp|tearDown|pytestmark|addCleanup",
        r"^ *class \w+\((?!(?:unittest\.)?TestCase\)|object\))",
    ),
    "javascript": (
        r"\b(?:before|after|setup|teardown)(?:Each|All)?\(",
        r"\b(?:plan|assertions|hasAssertions|onTestFailed|onTestFinished)\(",
    ),
    "go": (r"func TestMain\(",),
    "java": (
        r"\b(?:extends|implements)\b",
        r"@(?!Test\b|Override\b|DisplayName\b|SuppressWarnings\b|Deprecated\b)[A-Z]",
        FIELD,
        r"^\s*static \{|^(?: {2}| {4}|\t)\{",
    ),
    "kotlin": (
        r"@(?:\w+:)?(?!Test\b|Suppress\b|JvmStatic\b)[A-Z]",
        r"\bclass \w+(?:<.*>)?(?:\(.*\))?\s*:",
        r"^(?: {2}| {4})(?:private )?va[lr] .*=",
        r"\binit \{|\bby lazy|companion object",
    ),
    "php": (
        r"set_?[uU]p|tear_?[dD]own|#\[(?!Test\])|@before|@after|__construct",
        r"^    use \w|extends (?!TestCase\b)|^use (?!PHPUnit)\S*\\TestCase;",
    ),
    "ruby": (
        r"\b(?:setup|teardown|before|after|around|let!|subject!|include|prepend|included|shared_examples)\b",
        r"class [\w:]+ < (?!Minitest::(?:Test|Spec)\b|Test::Unit::TestCase\b|ActiveSupport::TestCase\b)",
    ),
    "rust": (r"#\[ctor|#\[should_panic|\bas test\b",),
    "csharp": (
        r"SetUp|TearDown|Initialize|Cleanup|Dispose|\[assembly|\bpartial class",
        r"\b(?:class|record) \w+(?:<\w+>)?\s*[:(]",
        r"^ {4,8}\w[^(){};]*=[^;]*(?:\(|\bnew\b)",
        r"\b(?:public|internal|static)\s+\w+\([^)]*\)\s*(?:$|\{|=>|:)",
    ),
    "swift": (
        r"setUp|tearDown|^ {2,4}init\(|deinit|\boverride\b|@Suite\(|continueAfterFailure",
        r"\bclass \w+ ?+: ?+(?!XCTestCase *\{)",
        r"@(?!(?:Test|Suite|MainActor|available|objc|objcMembers|escaping|autoclosure|Sendable|discardableResult)\b)\w+",
        r"^ {2,4}(?:private |static |fileprivate )*(?:let|var) .*=.*\(",
    ),
    "cpp": (
        r"SetUp|TearDown|FIXTURE|TEST_F|Environment|Listener|listener|\bdecorator\b|BOOST_GLOBAL",
        r"#define (?:CHECK|EXPECT|TEST|REQUIRE)",
    ),
}
#: what a file has to have, as its tests may be of another class without it
NEEDED: Final[Mapping[str, str]] = {
    "php": r"^use PHPUnit\\Framework\\TestCase;|extends \\PHPUnit\\Framework\\TestCase\b"
}
#: names of syntaxes that are one language here
ALIASES: Final = {"typescript": "javascript", "tsx": "javascript"}


#: helpers of Ruby tests, and calls in them that run a block around each test that requires such a file
HELPER: Final = re.compile(r"(?:^|/)(?:test|spec)/(?:.*/)?(?:\w*helper|abstract_unit)\.rb$")
HELP: Final = re.compile(
    r"^\s*(?:[\w.:]+\.)?(?:(?:prepend_|append_)?(?:before|after)|around|setup|teardown|fixtures)\b(?!\s*[=.,])"
    r"|\bdef (?:(?:before_|after_)?(?:setup|teardown))\b",
    re.MULTILINE,
)
#: languages whose types are looked at alone, as other types of a file run around no test
TYPED: Final = frozenset({"java", "kotlin", "csharp", "swift"})
TYPE: Final = "class_declaration"
NOWHERE: Final[list[Node]] = []


class Place(NamedTuple):
    """The body of a test.  begin, end: of what is replaced; indent: of its statements; text: without that."""

    begin: int
    end: int
    indent: str
    text: str
    before: str
    after: str


class File:
    """One file of tests.  syntax: its language as the engine names it; is_helped: a helper runs more around them."""

    def __init__(self, source: bytes, syntax: str) -> None:
        self.source, self.language = source, ALIASES.get(syntax, syntax)
        self.lines = [0, *(at + 1 for at, byte in enumerate(source) if byte == 10)]
        self.root = parse(source, syntax) if self.language != "cpp" else None
        self.text = source.decode("utf-8", "replace")
        self.is_helped = False

    def place(self, test: Test) -> Place | None:
        """The body of a test; None if it takes something, or is written in an unusual way."""
        span = self._braces(test) if self.root is None else self._block(self.root, test)
        if span is None:
            return None
        head = self.source[self.lines[test.line - 1] : span[0]].decode("utf-8", "replace")
        is_braced = self.language not in OPEN
        head = head.removesuffix("{") if is_braced else head
        if not re.search(HEADS[self.language], head) or not self._is_bare(test.line):
            return None
        indent = " " * (len(head) - len(head.lstrip(" \t"))) if "\t" not in head[:1] else "\t"
        indent += "    " if self.language != "ruby" else "  "
        inner = self.source[slice(*span)].decode("utf-8", "replace")
        if not is_braced:
            column = span[0] - self.source.rfind(b"\n", 0, span[0]) - 1
            if self.source[span[0] - column : span[0]].strip():
                return None
            indent = self.source[span[0] - column : span[0]].decode()
            return Place(*span, indent, dedent(indent + inner), "", "")
        return Place(*span, indent, dedent(inner.strip("\n")).strip(), "\n", "\n" + indent[:-4])

    def is_surrounded(self, place: Place) -> bool:
        """Whether something in the file or in a helper may run around the test, or ask more of it."""
        if self.is_helped:
            return True
        own = self._types(place)
        outside = b"\n".join(
            self.source[node.start_byte : place.begin] + self.source[place.end : node.end_byte]
            if node.start_byte <= place.begin < node.end_byte
            else self.source[node.start_byte : node.end_byte]
            for node in own
        ) or (self.source[: place.begin] + self.source[place.end :])
        written = outside.decode("utf-8", "replace")
        if not re.search(NEEDED.get(self.language, ""), self.text, re.MULTILINE):
            return True
        return own is NOWHERE or any(re.search(one, written, re.MULTILINE) for one in AROUND[self.language])

    def _types(self, place: Place) -> list[Node]:
        """The type around a test; in Swift what it extends as well.  Empty for none, NOWHERE if that is elsewhere."""
        types = [one for one in _every(self.root, 0, len(self.lines)) if one.type == TYPE] if self.root else []
        around = [one for one in types if one.start_byte <= place.begin < one.end_byte][:1]
        if not around or self.language not in TYPED or around[0].children[0].type != "extension":
            return around if self.language in TYPED else []
        named = [one for one in types if _name(one) == _name(around[0]) and one.children[0].type != "extension"]
        return [*around, *named] if named else NOWHERE

    def _is_bare(self, line: int) -> bool:
        """Whether nothing but what makes it a test stands above it."""
        above = self.source[self.lines[max(0, line - 4)] : self.lines[line - 1]].decode("utf-8", "replace").splitlines()
        last = above[-1].strip() if above else ""
        if self.language == "python":
            return not last.startswith("@") and not last.endswith(")")
        if self.language == "rust":
            return last in ("#[test]", "") or self.source[self.lines[line - 1] :].startswith(b"#[test]")
        if self.language == "swift":
            return not last.startswith("@") or last == "@Test"
        return True

    def _block(self, root: Node, test: Test) -> tuple[int, int] | None:
        for node in _every(root, test.line - 1, max(test.line, test.end_line) - 1):
            if node.type in BLOCKS[self.language] and node.start_point.row >= test.line - 1:
                if abs(node.end_point.row + 1 - test.end_line) > (1 if self.language in OPEN else 0):
                    return None
                trim = 0 if self.language in OPEN else 1
                return node.start_byte + trim, node.end_byte - trim
        return None

    def _braces(self, test: Test) -> tuple[int, int] | None:
        """The body of a C++ test, of which there is no tree."""
        code = reading(self.source).masked.code
        opened = code.find(b"(", self.lines[test.line - 1])
        split = spans(code, opened) if opened >= 0 else None
        begin = code.find(b"{", split[1]) if split is not None else -1
        depth = 0
        for at in range(begin, len(code)) if begin >= 0 else ():
            depth += (code[at] == ord("{")) - (code[at] == ord("}"))
            if depth == 0:
                return begin + 1, at
        return None


def _name(node: Node) -> bytes:
    name = node.child_by_field_name("name")
    return (name.text or b"") if name is not None else b""


def _every(node: Node, first: int, last: int) -> Iterator[Node]:
    """All nodes that touch some lines, those outside first."""
    waiting = [node]
    while waiting:
        one = waiting.pop()
        if one.end_point.row < first or one.start_point.row > last:
            continue
        yield one
        waiting.extend(reversed(one.named_children))
