"""One call of a test macro as a fact: its name, its suite, and the status its tags or decorators give."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from testlist.languages.cpp.facts_arguments import literals, title_of, without_literals
from testlist.languages.cpp.shape import Place, TestFact
from testlist.languages.cpp.vocabulary import Macro

WORD: Final = re.compile(r"[A-Za-z_]\w*+")
TAG: Final = re.compile(r"\[([^\[\]]*+)\]")
HIDING: Final = frozenset({"!hide", "hide", "!benchmark"})
EXPECTING: Final = frozenset({"!shouldfail", "!mayfail"})
CALL: Final = re.compile(
    r"\b(skip|should_fail|may_fail|expected_failures|disabled|enabled|enable_if)\b\s*+(<[^<>]*+>)?\s*+\(([^()]*+)\)"
)
FALSE: Final = frozenset({"false", "0"})
POINTER: Final = re.compile(r"^[&\s]*+(?:\w+\s*::\s*)*")
DISABLED: Final = "DISABLED_"


@dataclass(slots=True)
class Described:
    """What a call says of the test that it defines.  loose: only includes can say that it is a test."""

    name: str
    owner: str
    status: str | None = None
    suite: str | None = None
    loose: bool = False
    dynamic: bool = False
    cases: int | None = None

    def fact(self, suites: Sequence[str], place: Place, status: str | None = None) -> TestFact:
        """The case as a fact.  suites: around it; status: that of its surroundings, if the call says nothing."""
        own = [self.suite] if self.suite is not None else []
        fact: TestFact = {
            "owner": self.owner,
            "name": self.name,
            "suites": [*suites, *own],
            "line": place["line"],
            "column": place["column"],
            "end": place["end"],
        }
        if "when" in place:
            fact["when"] = True
        if said := self.status or status:
            fact["status"] = said
        if self.loose:
            fact["loose"] = True
        if self.dynamic:
            fact["dynamic"] = True
        if self.cases is not None:
            fact["cases"] = self.cases
        return fact


def described(macro: Macro, arguments: Sequence[str], aliases: dict[str, list[str]]) -> Described | None:
    """Read a call; None if it cannot be a definition.  aliases: names that `#define` gives to other names."""
    given = [] if list(arguments) == [""] else list(arguments)
    if len(given) < macro.least or (macro.owner == "gtest" and len(given) != macro.least):
        return None
    found = _titled(macro, given) if macro.text else _named(macro, given, aliases)
    if found is None:
        return None
    found.dynamic = macro.dynamic
    if macro.types is not None and len(given) > macro.types:
        found.cases = len(given) - macro.types
    return found


def _titled(macro: Macro, given: list[str]) -> Described:
    if not given:
        return Described("Anonymous test case", macro.owner)
    name, rest = title_of(given[macro.name])
    tags = given[macro.marks] if macro.marks is not None and len(given) > macro.marks else ""
    status = decorated(rest if name is not None else given[macro.name])
    if macro.owner != "doctest" and macro.marks != macro.name:
        status = tagged("".join(literals(tags)), name or "") or status
    written = " ".join(given[macro.name].split()) if name is None else name
    return Described(written, macro.owner, status, loose=name is None)


def _named(macro: Macro, given: list[str], aliases: dict[str, list[str]]) -> Described | None:
    if macro.owner == "gtest":
        suite, name = (_meant(given[at], aliases) for at in (0, 1))
        if not WORD.match(suite) or not WORD.match(name):
            return None
        disabled = suite.startswith(DISABLED) or name.startswith(DISABLED)
        return Described(name, macro.owner, "skipped" if disabled else None, suite)
    title, _ = title_of(given[macro.name])
    name = title if title is not None else POINTER.sub("", " ".join(given[macro.name].split()))
    marks = given[macro.marks :] if macro.marks is not None else []
    status = decorated(" ".join(marks))
    if marks and marks[0].isdigit() and int(marks[0][:9]):
        status = "xfail"
    return Described(name, macro.owner, status) if name else None


def _meant(text: str, aliases: dict[str, list[str]]) -> str:
    """Follow a name that is another one on some platforms; it is disabled only if it is so on all."""
    values = aliases.get(text)
    if not values:
        return " ".join(text.split())
    return next((value for value in values if not value.startswith(DISABLED)), values[0])


def tagged(tags: str, name: str) -> str | None:
    """Status by Catch2's special tags; hidden tests are run only when asked for."""
    found = {tag.lower() for tag in TAG.findall(tags)}
    if found & HIDING or any(tag.startswith(".") for tag in found) or name.startswith("./"):
        return "skipped"
    return "xfail" if found & EXPECTING else None


def decorated(text: str) -> str | None:
    """Status by decorators of doctest and Boost.Test; one with a condition leaves a test active."""
    status = None
    for word, template, argument in CALL.findall(without_literals(text)):
        value = (template.strip("<> ") if word == "enable_if" else argument.strip()).rpartition("::")[2]
        if word == "enabled" or (word == "enable_if" and value not in FALSE):
            status = "active"
        elif word == "skip":
            status = "skipped" if value in ("", "true", "1") else "active"
        elif word in ("disabled", "enable_if"):
            return "skipped"
        elif value not in FALSE:
            status = "skipped" if status == "skipped" else "xfail"
    return status
