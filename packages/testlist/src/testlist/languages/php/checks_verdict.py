"""Why a test of PHPUnit passes whatever the code does: said only where its file shows all that runs around it."""

import re
from collections.abc import Callable
from typing import Final

from tree_sitter import Node

from testlist.kit.bodies import Passes
from testlist.languages.php.checks_calls import asserted, is_own, links_of, plain
from testlist.languages.php.facts_names import Names
from testlist.sandbox.syntax import line, named, text

#: a file with any of these may run more around its tests than they say, or ask more of them
SURROUNDED: Final = re.compile(
    rb"\b(?:set_?up|tear_?down|assertPreConditions|assertPostConditions|runTest|__construct|__destruct|onNotSuccessful"
    rb"|expectException|(?:Before|After)(?:Class)?\b|@before|@after)",
    re.IGNORECASE,
)
#: what a class of tests is, of which nothing more is known to run around them
BASES: Final = frozenset({"phpunit\\framework\\testcase", "phpunit_framework_testcase"})
#: what may stand above a method and does not change what it does
TAG: Final = re.compile(r"@([\w-]+)")
HARMLESS: Final = frozenset(
    {"test", "return", "group", "covers", "coversNothing", "author", "since", "small", "medium"}
)
MARK: Final = "#[Test]"


def surroundings(source: bytes) -> Callable[[Node, Names], bool]:
    """What says of a class of this file whether only its methods run."""
    is_plain = not SURROUNDED.search(source)
    return lambda node, names: is_plain and _is_bare(node, names)


def _is_bare(node: Node, names: Names) -> bool:
    bases = [names.full(text(base)).lower() for one in named(node) if one.type == "base_clause" for base in named(one)]
    has_traits = any(one.type == "use_declaration" for one in named(node.child_by_field_name("body")))
    is_marked = node.child_by_field_name("attributes") is not None
    return len(bases) == 1 and bases[0] in BASES and not has_traits and not is_marked


def passes(method: Node, body: Node) -> Passes | None:
    """Why a method of such a class passes; None where it may fail, or nobody knows."""
    marks, above = method.child_by_field_name("attributes"), method.prev_named_sibling
    comment = text(above) if above is not None and above.type == "comment" else ""
    if list(named(method.child_by_field_name("parameters"))) or not HARMLESS.issuperset(TAG.findall(comment)):
        return None
    if marks is not None and text(marks) != MARK:
        return None
    statements = list(named(body))
    if not statements:
        return "empty"
    return "constant" if all(map(_holds, statements)) else None


def _holds(statement: Node) -> bool:
    """Whether a statement is a check of literals that is known to hold."""
    call = next(named(statement), None) if statement.type == "expression_statement" else None
    if call is None:
        return False
    begin, links = links_of(call)
    if call.type == "scoped_call_expression" and is_own(call.child_by_field_name("scope")):
        name = plain(call)
    elif len(links) == 1 and links[0].called and is_own(begin):
        name = links[0].name
    else:
        return False
    check = asserted(call, name, line(call))
    return check is not None and check.get("idle") == "constant"
