"""What the tests and functions of one C++ file check, and what they call: read from tokens, on demand."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from typing import Final, NamedTuple

from testlist.kit.bodies import MOST_CALLS, MOST_CHECKS, MOST_FUNCTIONS, BodiesFact, BodyFact
from testlist.kit.checking import Reading, made
from testlist.kit.passing import settle
from testlist.languages.cpp.checks_failures import Outline
from testlist.languages.cpp.checks_macros import checks_of
from testlist.languages.cpp.checks_source import Source, literal
from testlist.languages.cpp.checks_verdict import REDEFINED, SURROUNDED, verdict
from testlist.languages.cpp.facts import reading
from testlist.languages.cpp.facts_arguments import Span, spans, title_of
from testlist.languages.cpp.facts_calls import BLOCK, Reader
from testlist.languages.cpp.shape import Place
from testlist.languages.cpp.vocabulary_checks import CALLED, CONDITIONS, FAILS, IDLE, MACROS, MATCHED, OTHERS
from testlist.model import Facts

#: a call: its name, perhaps with arguments of a template, and what stands before it
CALLING: Final = re.compile(rb"\b([A-Za-z_]\w*+)\s*+(?:<[^<>;(){}]{0,80}+>\s*+)?\(")
#: what stands between what a function is given and its block
HEAD: Final = re.compile(rb"\s*+(?:(?:const|noexcept|override|final|mutable)\b\s*+)*(?:->[^;{}()]{0,80}+)?\{")
WORDS: Final = frozenset({"if", "for", "while", "switch", "catch", "return", "sizeof", "decltype", "constexpr"})
BRACE: Final = re.compile(rb"[{}]")
#: what an include in quotes names
INCLUDES: Final = re.compile(rb"""^[ \t]*+#[ \t]*+include[ \t]*+"([^"\n]++)\"""", re.MULTILINE)
MOST_INCLUDES: Final = 40
#: a variable that holds a function
VARIABLE: Final = re.compile(rb"\b([A-Za-z_]\w*+)\s*+=\s*+\[")
KNOWN: Final = frozenset({*FAILS, *CONDITIONS, *MACROS, *MATCHED, CALLED})
DEFINE: Final = b"define"
LONGEST: Final = 65_536  # bytes of one function


class _Block(NamedTuple):
    """A block, with the names that it may have.  at: where what it belongs to begins."""

    names: tuple[str, ...]
    at: int
    span: Span


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - the interface has it
    """Read one file: a BodiesFact."""
    reader = reading(source)
    whole = Source(reader.masked, reader.lines)
    functions = list(islice(_functions(whole), MOST_FUNCTIONS))
    alike = Counter(one.names[0] for one in functions)
    own = frozenset(name for name, times in alike.items() if times == 1)
    alone = not SURROUNDED.search(source) and not REDEFINED.search(source)
    includes = dict.fromkeys(one.decode("utf-8", "replace") for one in INCLUDES.findall(source)[:MOST_INCLUDES])
    tests = list(islice(_tests(whole, reader), MOST_FUNCTIONS))
    names = own
    if includes:  # a call by the name of a test or of its part means neither
        own |= _plainly(whole) - alike.keys() - {name for block, _ in tests for name in block.names}
    bodies = [_body(whole, one, one.names[0], own) for one in functions if one.names[0] in names]
    heads = Counter(b"".join(whole.masked.source[block.at : block.span[0]].split()) for block, _ in tests)
    for block, is_whole in tests:
        head = whole.masked.source[block.at : block.span[0]]
        is_alone = alone and is_whole and heads[b"".join(head.split())] == 1  # a second of its name fails
        for name in block.names:
            body = _body(whole, block, name, own)
            if is_alone:
                settle(body, verdict(whole, block.span, head, body))
            bodies.append(body)
    found: BodiesFact = {"functions": bodies[:MOST_FUNCTIONS], "imports": dict.fromkeys(includes, "")}
    return {**found}


def _plainly(source: Source) -> frozenset[str]:
    """Names that are called and never on an object, and that are no macros, words or variables of the file."""
    code = source.masked.code
    called, others = set[bytes](), set[bytes]()
    for found in CALLING.finditer(code):
        before = bytes(code[max(0, found.start() - 2) : found.start()])
        (others if before.endswith((b".", b"->")) else called).add(found[1])
    others.update(VARIABLE.findall(code))
    plain = (one.decode() for one in called - others)
    return frozenset(one for one in plain if one not in WORDS | KNOWN and not one.isupper())


def _tests(source: Source, reader: Reader) -> Iterator[tuple[_Block, bool]]:
    """Blocks of tests, of what may be one by a macro of the project, and of their parts; and whether it is a test."""
    for test in reader.tests:
        yield from ((block, "status" not in test) for block in _block(source, test, (test["name"],)))
    for use in reader.uses:  # one of the arguments is the name
        names = dict.fromkeys(title_of(one)[0] or one for one in use["arguments"][:4])
        yield from ((block, False) for block in _block(source, use, tuple(names)))
    for fact in (*reader.tests, *reader.uses):
        for part in fact.get("parts", ()):
            yield from ((block, False) for block in _block(source, part, (part["name"],)))


def _block(source: Source, place: Place, names: tuple[str, ...]) -> Iterator[_Block]:
    """The block of a test or of a part of one, if there is one."""
    code, at = source.masked.code, source.lines[place["line"] - 1] + place["column"] - 1
    opened = code.find(b"(", at)
    split = spans(code, opened) if opened >= 0 else None
    head = BLOCK.match(code, split[1]) if split is not None else None
    if head is not None:
        limit = source.lines[place["end"]] if place["end"] < len(source.lines) else len(code)
        yield _Block(names, at, (head.end(), _end(code, head.end(), limit)))


def _end(code: bytearray, begin: int, limit: int) -> int:
    """Where a block ends, which was opened before `begin`."""
    depth = 1
    for found in BRACE.finditer(code, begin, limit):
        depth += 1 if found[0] == b"{" else -1
        if depth == 0:
            return found.start()
    return limit


def _functions(source: Source) -> Iterator[_Block]:
    """Functions and methods that are defined in a file."""
    code, at = source.masked.code, 0
    while (found := CALLING.search(code, at)) is not None:
        at, name = found.end(), found[1].decode()
        if name in WORDS or name.isupper():
            continue
        split = spans(code, found.end() - 1)
        head = HEAD.match(code, split[1]) if split is not None else None
        if head is not None:
            at = _end(code, head.end(), min(len(code), head.end() + LONGEST))
            yield _Block((name,), found.start(), (head.end(), at))


def _body(source: Source, block: _Block, name: str, own: frozenset[str]) -> BodyFact:
    reading = Reading()
    _walk(source, block.span, reading, own)
    return {
        "name": name,
        "line": source.line(block.at),
        "end": source.line(block.span[1]),
        "checks": reading.checks[:MOST_CHECKS],
        "calls": list(reading.calls)[:MOST_CALLS],
    }


def _walk(source: Source, span: Span, reading: Reading, own: frozenset[str]) -> None:
    """All macros and calls in a block."""
    code = source.masked.code
    outline: Outline | None = None
    statements = _Statements(code, span[0])
    for found in CALLING.finditer(code, *span):
        name = found[1].decode()
        if name in own:
            reading.calls[name] = None
        elif name in FAILS:
            if statements.is_certain(found.start()):
                reading.add(made(source.line(found.start()), "fails", literal=literal))
            else:
                outline = outline or Outline(source, span)
                for check in outline.decided(found.start()):
                    reading.add(check)
        elif _is_check(name, code, found.start()) and (split := spans(code, found.end() - 1)) is not None:
            for check in checks_of(source, name, split[0], source.line(found.start()), split[1]):
                reading.add(check)
        if len(reading.checks) >= MOST_CHECKS:
            return


def _is_check(name: str, code: bytearray, at: int) -> bool:
    """Whether a macro is a check: one of a library, or one of the repository that is called like those."""
    if name in KNOWN:
        return True
    is_defined = code[max(0, at - len(DEFINE) - 8) : at].rstrip().endswith(DEFINE)
    return OTHERS.fullmatch(name) is not None and name not in IDLE and not is_defined


class _Statements:
    """Statements of a block in their order, so that each byte before them is read once."""

    def __init__(self, code: bytearray, begin: int) -> None:
        self._code, self._at, self._depth = code, begin, 0

    def is_certain(self, at: int) -> bool:
        """Whether the next one stands in the block itself, and nothing decides on it."""
        before = bytes(self._code[self._at : at])
        self._at = at
        self._depth += before.count(b"{") - before.count(b"}")
        return self._depth == 0 and before.rstrip()[-1:] in (b"", b";", b"}")
