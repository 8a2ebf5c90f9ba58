"""Macros of a project that stand for tests, and what a call of one defines."""

import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.cpp.facts_cases import Described, described
from testlist.languages.cpp.shape import CppFacts, MacroFact, Place, TestFact, UseFact
from testlist.languages.cpp.vocabulary import GTEST, INNER, TESTS

#: macros within macros
DEEPEST: Final = 8
FEW_TESTS: Final = 100  # of one call, each listed
MOST_STEPS: Final = 20_000  # of all calls of one file
PIECE: Final = re.compile(r"(?P<paste>##)|(?P<quote>#\s*+)?(?P<word>[A-Za-z_]\w*+)")
AROUND_PASTE: Final = re.compile(r"\s++(?=##)|(?<=##)\s++")
LONGEST: Final = 400


@dataclass(slots=True)
class Wrappers:
    """Such macros of a repository, by name.  left: steps that may still be taken for the file at hand."""

    macros: dict[str, MacroFact] = field(default_factory=dict)
    left: int = 0

    @classmethod
    def of(cls, files: Iterable[Mapping[str, MacroFact]]) -> "Wrappers":
        """Take the macros of all files that lead to tests.  Of macros of one name the first counts."""
        found: dict[str, MacroFact] = {}
        for macros in files:
            for name, macro in macros.items():
                found.setdefault(name, macro)
        callers: dict[str, list[str]] = defaultdict(list)
        for name, macro in found.items():
            for called, _ in macro["calls"]:
                callers[called].append(name)
        todo = [name for name in callers if name in TESTS or name == INNER]
        leading: dict[str, MacroFact] = {}
        while todo:
            for name in callers.get(todo.pop(), ()):
                if name not in leading:
                    leading[name] = found[name]
                    todo.append(name)
        return cls(leading)

    def tests(self, facts: CppFacts) -> Iterator[TestFact]:
        """Tests that the calls of one file define; a call that defines a great many is one, and dynamic."""
        own = facts.get("macros", {})
        self.left = MOST_STEPS
        for use in facts.get("uses", ()):
            if use["macro"] in self.macros:
                yield from self._defined(use, own)

    def _defined(self, use: UseFact, own: Mapping[str, MacroFact]) -> Iterator[TestFact]:
        place: Place = {"line": use["line"], "column": use["column"], "end": use["end"]}
        if "when" in use:
            place["when"] = use["when"]
        found = list(self._tests(use, own))
        if len(found) > FEW_TESTS:
            many = Described(use["arguments"][0] or use["macro"], found[0].owner, dynamic=True, cases=len(found))
            found = [many]
        yield from (one.fact(use["suites"], place, use.get("status")) for one in found)

    def _tests(self, use: UseFact, own: Mapping[str, MacroFact]) -> Iterator[Described]:
        for name, arguments in self._calls(use["macro"], use["arguments"], own, ()):
            macro = TESTS.get(name, GTEST)
            found = described(macro, arguments[:2] if macro is GTEST else arguments, {})
            if found is not None and not found.loose:
                yield found

    def _calls(
        self, name: str, arguments: Sequence[str], own: Mapping[str, MacroFact], around: tuple[str, ...]
    ) -> Iterator[tuple[str, list[str]]]:
        macro = own.get(name) or self.macros.get(name)
        if macro is None or name in around or len(around) >= DEEPEST:
            return
        values = bound(macro["parameters"], arguments)
        for called, written in macro["calls"]:
            self.left -= 1
            if self.left < 0:
                return
            if called in TESTS or called == INNER:
                yield called, [substituted(text, values) for text in written]
            elif called in self.macros:
                yield from self._calls(called, [substituted(text, values) for text in written], own, (*around, name))


def bound(parameters: Sequence[str], arguments: Sequence[str]) -> dict[str, str]:
    """Values of parameters; the rest of a call goes to `...`."""
    values = dict(zip(parameters, arguments, strict=False))
    if parameters and parameters[-1].endswith("..."):
        name = parameters[-1].removesuffix("...").strip() or "__VA_ARGS__"
        values[name] = ", ".join(arguments[len(parameters) - 1 :])
    return values


def substituted(text: str, values: Mapping[str, str]) -> str:
    """One argument of a macro's body, as a call gives it."""

    def value(found: re.Match[str]) -> str:
        given = values.get(found["word"] or "")
        if given is None:
            return "" if found["paste"] else found[0]
        return '"' + given.replace("\\", "\\\\").replace('"', '\\"') + '"' if found["quote"] else given

    return PIECE.sub(value, AROUND_PASTE.sub("", text))[:LONGEST]
