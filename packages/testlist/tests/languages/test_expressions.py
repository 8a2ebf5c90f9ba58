"""No expression has a shape that CPython before 3.11.5 misreads (gh-106052).

There a possessive repetition of a group goes on from where a failed round had got to. That shows only where a round
can fail after something in it has moved on: a lookaround, or a repetition or an alternative behind a first sign.
"""

import importlib
import pkgutil
import re
from collections.abc import Iterable, Iterator
from re import _parser  # type: ignore[attr-defined]
from typing import Any

import pytest
import testlist
from testlist.languages.csharp.strip_tokens import BRACES, _raw, tokens
from testlist.languages.swift.facts import FIRST
from testlist.reports.hints import hints

SIGNS = frozenset({"LITERAL", "NOT_LITERAL", "ANY", "IN"})
REPEATS = frozenset({"MAX_REPEAT", "MIN_REPEAT", "POSSESSIVE_REPEAT"})


def patterns(value: object) -> Iterator[re.Pattern[Any]]:
    if isinstance(value, re.Pattern):
        yield value
    elif isinstance(value, dict):
        yield from (one for inner in value.values() for one in patterns(inner))
    elif isinstance(value, tuple | list | set | frozenset):
        yield from (one for inner in value for one in patterns(inner))


def expressions() -> dict[str, re.Pattern[Any]]:
    """Every expression that a module holds."""
    found = {f"raw {signs} {quotes}": _raw(signs, quotes) for signs in (1, 2) for quotes in (3, 4)}
    for info in pkgutil.walk_packages(testlist.__path__, "testlist."):
        module = importlib.import_module(info.name)
        for name, value in vars(module).items():
            found |= {f"{info.name}.{name} {number}": one for number, one in enumerate(patterns(value))}
    return found


def groups(tree: Iterable[tuple[Any, Any]]) -> Iterator[list[tuple[Any, Any]]]:
    """Bodies of possessive repetitions, but not of single signs."""
    for operation, value in tree:
        inner: list[Any] = [value] if isinstance(value, _parser.SubPattern) else []
        inner += [one for one in value if isinstance(one, _parser.SubPattern)] if isinstance(value, tuple) else []
        inner += value[1] if str(operation) == "BRANCH" else []
        if str(operation) == "POSSESSIVE_REPEAT":
            body = list(inner[0])
            if len(body) != 1 or str(body[0][0]) not in SIGNS:
                yield body
        for one in inner:
            yield from groups(one)


def misread(body: list[tuple[Any, Any]]) -> bool:
    """Whether a round over a body may fail after it has moved on."""
    begun = moved = False
    for operation, value in body:
        kind = str(operation)
        if kind == "SUBPATTERN" and not begun:
            if misread([*value[3], *body[1:]]):
                return True
            begun = True
        elif kind == "BRANCH" and not begun:
            return any(misread([*one, *body[1:]]) for one in value[1])
        elif kind in REPEATS and (not begun or value[0] == 0):  # one that takes nothing does not fail
            moved = True
        elif kind not in SIGNS or moved:
            return True
        begun = True
    return False


def suspects(pattern: str | bytes, flags: int = 0) -> list[str]:
    return [str(body) for body in groups(_parser.parse(pattern, flags)) if misread(body)]


def test_no_expression_can_be_misread() -> None:
    found = expressions()
    assert len(found) > 100
    assert {name: bad for name, one in found.items() if (bad := suspects(one.pattern, one.flags))} == {}


@pytest.mark.parametrize(
    "pattern",
    [r"(?:ab?c)++", r"(?:[^*]|\*(?!/))*+", r"(?:(?!x)\{)*+", r"(?:if\s*+:)?+", r"(?:throw\s++)?+"],
)
def test_a_shape_that_is_misread_is_told(pattern: str) -> None:
    assert suspects(pattern)


@pytest.mark.parametrize(
    "pattern", [r"\s*+", r"(?:[^\"\\]|\\.)*+", r"(?:[^\"\\]++|\\.)*+", r"(?:\w+\s*+)?+", r"(?:(?:\.|::)[a-z]\w*+)*+"]
)
def test_a_shape_that_is_safe_is_let_be(pattern: str) -> None:
    assert suspects(pattern) == []


def test_texts_end_where_they_should() -> None:
    # each of these comes out otherwise where a shape is misread
    assert hints(b'import shop.cart\n"""\nnet.call()\n"""\ncart.load()\n', "python") == ["shop.cart", "cart.load"]
    assert FIRST.match("throwXCTSkipIf(a)") is None
    code = b'{ $$"""a {{ (x ? "}" : "{") }} b""" }'
    assert [token.start("sign") for token in tokens(BRACES, code) if token["sign"]] == [0, len(code) - 1]
