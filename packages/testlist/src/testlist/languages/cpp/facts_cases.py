"""One call of a test macro as a fact: its name, its suite, and the status its tags or decorators give."""

import re
from collections.abc import Sequence
from typing import Any, Final

from testlist.languages.cpp.facts_arguments import literals, title_of, without_literals
from testlist.languages.cpp.vocabulary import Shape

Fact = dict[str, Any]

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


def described(shape: Shape, arguments: Sequence[str], aliases: dict[str, list[str]]) -> Fact | None:
    """Read a call; None if it cannot be a definition.  aliases: names that `#define` gives to other names."""
    given = [] if list(arguments) == [""] else list(arguments)
    if len(given) < shape.least or (shape.owner == "gtest" and len(given) != shape.least):
        return None
    fact = _titled(shape, given) if shape.text else _named(shape, given, aliases)
    if fact is None:
        return None
    fact["owner"] = shape.owner
    if shape.dynamic:
        fact["dynamic"] = True
    if shape.types is not None and len(given) > shape.types:
        fact["cases"] = len(given) - shape.types
    return fact


def _titled(shape: Shape, given: list[str]) -> Fact | None:
    if not given:
        return {"name": "Anonymous test case"}
    name, rest = title_of(given[shape.name])
    tags = given[shape.marks] if shape.marks is not None and len(given) > shape.marks else ""
    status = decorated(rest if name is not None else given[shape.name])
    if shape.owner != "doctest" and shape.marks != shape.name:
        status = tagged("".join(literals(tags)), name or "") or status
    fact: Fact = {"name": " ".join(given[shape.name].split()) if name is None else name}
    if name is None:
        fact["loose"] = True  # only what a file includes can say that this is a test
    return _with_status(fact, status)


def _named(shape: Shape, given: list[str], aliases: dict[str, list[str]]) -> Fact | None:
    if shape.owner == "gtest":
        suite, name = (_meant(given[at], aliases) for at in (0, 1))
        if not WORD.match(suite) or not WORD.match(name):
            return None
        disabled = suite.startswith(DISABLED) or name.startswith(DISABLED)
        return _with_status({"name": name, "suite": suite}, "skipped" if disabled else None)
    title, _ = title_of(given[shape.name])
    name = title if title is not None else POINTER.sub("", " ".join(given[shape.name].split()))
    marks = given[shape.marks :] if shape.marks is not None else []
    status = decorated(" ".join(marks))
    if marks and marks[0].isdigit() and int(marks[0][:9]):
        status = "xfail"
    return _with_status({"name": name}, status) if name else None


def _meant(text: str, aliases: dict[str, list[str]]) -> str:
    """Follow a name that is another one on some platforms; it is disabled only if it is so on all."""
    values = aliases.get(text)
    if not values:
        return " ".join(text.split())
    return next((value for value in values if not value.startswith(DISABLED)), values[0])


def _with_status(fact: Fact, status: str | None) -> Fact:
    if status:
        fact["status"] = status
    return fact


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
