"""Facts of one C++ file: what it includes, the tests it defines, and its macros that may stand for tests.

Its facts are CppFacts (see shape).
"""

import re
from typing import Final

from testlist.languages.cpp import vocabulary
from testlist.languages.cpp.facts_arguments import spans, text_of
from testlist.languages.cpp.facts_calls import TOKEN, Reader
from testlist.languages.cpp.facts_objc import SPEAKS
from testlist.languages.cpp.facts_objc import read as read_objc
from testlist.languages.cpp.shape import CppFacts, MacroFact
from testlist.languages.cpp.strip import INCLUDED, Masked, mask
from testlist.model import Facts

#: one of these is part of every macro that defines a test
MARKERS: Final = (b"TEST", b"SCENARIO")
INCLUDE: Final = re.compile(rb"^[ \t]*+#[ \t]*+(?:include|import)([^\n]*+)", re.MULTILINE)
MOST_INCLUDES: Final = 400
MACRO: Final = re.compile(rb"\s*+([A-Za-z_]\w*+)(\(([^()]*+)\))?([\s\S]*)")
ALIAS: Final = re.compile(rb"\s*+([A-Za-z_]\w*+)\s*+\Z")
CONTINUED: Final = re.compile(rb"\\\r?\n")
LONGEST_BODY: Final = 32_768


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - every reader takes it
    """Read one file."""
    if not any(marker in source for marker in MARKERS):
        return {"includes": _includes(source), **(read_objc(mask(source)) if SPEAKS.search(source) else {})}
    masked = mask(source)
    wrappers, aliases, own = _definitions(masked)
    reader = Reader(masked, frozenset(wrappers), aliases, _line_starts(masked.source))
    reader.read()
    for test in reader.tests:
        if test["owner"] == "gtest" and not reader.running.get(test["suites"][-1], True):
            test["status"] = "skipped"
        if (*test["suites"], test["name"]) in reader.twins:
            test.pop("when", None)
    facts: CppFacts = {
        "includes": masked.includes[:MOST_INCLUDES],
        "tests": reader.tests,
        "uses": reader.uses,
        "macros": wrappers,
        "own": sorted(own),
        **(read_objc(masked) if SPEAKS.search(source) else {}),
    }
    return {key: value for key, value in facts.items() if value}


def reading(source: bytes) -> Reader:
    """What was read of the tests of one file, with their places."""
    masked = mask(source)
    wrappers, aliases, _ = _definitions(masked)
    reader = Reader(masked, frozenset(wrappers), aliases, _line_starts(masked.source))
    reader.read()
    return reader


def _includes(source: bytes) -> list[str]:
    """Includes of a file without tests, comments and conditions disregarded."""
    found = (INCLUDED.match(rest) for rest in INCLUDE.findall(source))
    return [path[1].decode("utf-8", "replace").strip() for path in found if path][:MOST_INCLUDES]


def _line_starts(source: bytes) -> list[int]:
    return [0, *(found.end() for found in re.finditer(rb"\n", source))]


def _definitions(masked: Masked) -> tuple[dict[str, MacroFact], dict[str, list[str]], set[str]]:
    """Macros that call others, names for names, and macros that test libraries define."""
    wrappers: dict[str, MacroFact] = {}
    aliases: dict[str, list[str]] = {}
    own: set[str] = set()
    for _, rest in masked.defined:
        found = MACRO.match(rest)
        if found is None:
            continue
        name, body = found[1].decode(), found[4]
        if name in vocabulary.TESTS:
            own.add(name)
        if found[2] is None and (value := ALIAS.match(body)):
            aliases.setdefault(name, []).append(value[1].decode())
        elif found[2] is not None and len(body) <= LONGEST_BODY and (calls := _calls(body)):
            parameters = [part.strip() for part in (found[3] or b"").decode("utf-8", "replace").split(",")]
            wrappers[name] = {"parameters": parameters, "calls": calls}
    return wrappers, aliases, own


def _calls(body: bytes) -> list[tuple[str, list[str]]]:
    """Calls of macros, known or not, that a definition consists of: (name, arguments)."""
    masked = mask(CONTINUED.sub(b" ", body.lstrip()))
    found: list[tuple[str, list[str]]] = []
    at, depth = 0, 0
    while token := TOKEN.search(masked.code, at):
        at = token.end()
        if token[1] is None:
            depth += (token[0] == b"{") - (token[0] == b"}")
            continue
        name = token[1].decode()
        if depth == 0 and (name in vocabulary.TESTS or name == vocabulary.INNER or vocabulary.PERHAPS.search(name)):
            split = spans(masked.code, at - 1)
            if split is not None:
                found.append((name, [text_of(masked.source, masked.code, span)[:200] for span in split[0]]))
                at = split[1]
    return found
