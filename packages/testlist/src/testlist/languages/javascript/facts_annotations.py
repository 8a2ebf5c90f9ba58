"""Calls that speak of the tests around them: `test.skip()` among the tests of a suite, and in the body of one."""

import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript.facts_arguments import FUNCTIONS, LITERALS
from testlist.languages.javascript.facts_callee import Callee
from testlist.languages.javascript.shape import Call, Remark
from testlist.languages.javascript.vocabulary import SUITES, TESTS
from testlist.sandbox.syntax import named

#: what may be said of a whole suite
SAID: Final = frozenset({"skip", "fixme", "fail"})
#: what may stand between such a call and the body of its suite
BETWEEN: Final = frozenset({"expression_statement", "statement_block", "if_statement", "else_clause"})
#: a running test that leaves itself out
LEAVING: Final = re.compile(rb"\b(?:test|it|this|testInfo)\.(?:skip|fixme)\((?!\s*+[\"'`])")
STEPS: Final = 12


@dataclass(frozen=True, slots=True)
class Said:
    """What calls say of the suite they stand in: modifiers that hold in any case, and whether others depend."""

    modifiers: frozenset[str] = frozenset()
    depends: bool = False


def said(calls: Iterable[Call]) -> Said:
    """Sum up the calls of one suite."""
    found = [call for call in calls if "says" in call]
    always = frozenset(call["says"] for call in found if "when" not in call)
    return Said(always, any("when" in call and call["says"] != "fail" for call in found))


def annotation(node: Node, callee: Callee, is_suite: Callable[[Node | None], bool]) -> Remark | None:
    """What `test.skip()`, `test.skip(true)` or `test.skip(condition, "why")` says; None for any other call."""
    word = callee.modifiers[-1] if callee.modifiers else ""
    known = callee.root in TESTS or callee.root[0] == "@"
    if word not in SAID or not known or callee.curried or callee.sub or "describe" in callee.modifiers:
        return None
    given = list(named(node.child_by_field_name("arguments")))
    titled = given and (given[0].type in LITERALS or (len(given) > 1 and given[1].type in FUNCTIONS))
    if titled or len(given) > 2 or not _of_a_suite(node, is_suite):
        return None
    if given and given[0].type == "false":
        return None
    certain = not given or given[0].type == "true"
    return {"says": word} if certain else {"says": word, "when": True}


def _of_a_suite(node: Node, is_suite: Callable[[Node | None], bool]) -> bool:
    """Whether a call is a statement of a file or of the function that a suite was given."""
    around = node.parent
    for _ in range(STEPS):
        if around is None or around.type == "program":
            return True
        if around.type in FUNCTIONS:
            given = around.parent
            return given is not None and given.type == "arguments" and is_suite(given.parent)
        if around.type not in BETWEEN:
            return False
        around = around.parent
    return False


def suite(callee: Callee | None) -> bool:
    """Whether a callee makes suites."""
    return callee is not None and (callee.root in SUITES or "describe" in callee.modifiers)


def leaves(arguments: Node | None) -> bool:
    """Whether the body of a test may leave the test out when it runs."""
    raw = arguments.text if arguments is not None else None
    return raw is not None and (b".skip(" in raw or b".fixme(" in raw) and LEAVING.search(raw) is not None
