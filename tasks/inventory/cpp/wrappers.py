"""Macros of a project that stand for tests, and what a call of one defines."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final

from tasks.inventory.cpp.cases import Fact, described
from tasks.inventory.cpp.macros import GTEST, TESTS

#: macros within macros; a definition that calls itself ends here
DEEPEST: Final = 6
MOST_TESTS: Final = 40  # of one call
WORD: Final = re.compile(r"(#?)(?<!\w)([A-Za-z_]\w*+)")
PASTE: Final = re.compile(r"\s*+##\s*+")
LONGEST: Final = 2_000

Macro = Mapping[str, Any]


@dataclass(slots=True)
class Wrappers:
    """All such macros of a repository.  macros: by name; where files differ, the file's own comes first."""

    macros: dict[str, Macro] = field(default_factory=dict)

    def add(self, macros: Mapping[str, Macro]) -> None:
        """Take the macros of one file."""
        for name, macro in macros.items():
            self.macros.setdefault(name, macro)

    def tests(self, use: Fact, own: Mapping[str, Macro]) -> Iterator[Fact]:
        """Tests that a call defines."""
        found = 0
        for name, arguments in self._calls(use["macro"], use["arguments"], own, DEEPEST):
            shape = TESTS.get(name, GTEST)
            fact = described(shape, arguments[:2] if shape is GTEST else arguments, {})
            if fact is not None and found < MOST_TESTS:
                found += 1
                suites = [*use["suites"], *([fact.pop("suite")] if "suite" in fact else [])]
                yield {**{key: use[key] for key in ("line", "column", "end")}, **fact, "suites": suites}

    def _calls(
        self, name: str, arguments: Sequence[str], own: Mapping[str, Macro], depth: int
    ) -> Iterator[tuple[str, list[str]]]:
        macro = own.get(name) or self.macros.get(name)
        if macro is None or depth == 0:
            return
        values = bound(macro["parameters"], arguments)
        for called, written in macro["calls"][:MOST_TESTS]:
            given = [substituted(text, values) for text in written]
            if called in TESTS or called == "GTEST_TEST_":
                yield called, given
            else:
                yield from self._calls(called, given, own, depth - 1)


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
        given = values.get(found[2])
        if given is None:
            return found[0]
        return '"' + given.replace("\\", "\\\\").replace('"', '\\"') + '"' if found[1] else given

    return PASTE.sub("", WORD.sub(value, text)[:LONGEST])
