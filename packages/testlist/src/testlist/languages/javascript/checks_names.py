"""Names of a JavaScript file that may mean something else than they do in the libraries of tests and checks."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.javascript.facts_imports import canonical
from testlist.languages.javascript.facts_literals import required, string_of
from testlist.languages.javascript.vocabulary_modules import RUNNERS
from testlist.sandbox.syntax import named, text

#: modules whose `expect` and `assert` are those that are read
CHECKERS: Final = re.compile(
    r"(?:node:)?assert(?:/strict)?|chai|expect|should|power-assert|(?:jsr:)?@std/(?:assert|expect)(?:@[\w.^~-]+)?"
    r"|https://deno\.land/(?:std|x/expect)[\w@./-]*"
)
#: what else these may be taken from
TAKEN: Final = re.compile(r"chai\.(?:expect|assert)|assert\.strict")
VARIABLES: Final = frozenset({"lexical_declaration", "variable_declaration"})
DECLARED: Final = frozenset({"function_declaration", "generator_function_declaration", "class_declaration"})
NAMES: Final = frozenset({"identifier", "shorthand_property_identifier_pattern"})


def strange(root: Node) -> Iterator[str]:
    """Names that a file declares itself, or takes from a module that is not known to be such a library."""
    for node in named(root):
        if node.type == "import_statement":
            if not _is_library(string_of(node.child_by_field_name("source"))):
                yield from _imported(node)
        elif node.type in DECLARED:
            yield text(node.child_by_field_name("name"))
        elif node.type in VARIABLES:
            for one in named(node):
                yield from _declared(one)


def _imported(node: Node) -> Iterator[str]:
    for part in (part for child in named(node) if child.type == "import_clause" for part in named(child)):
        if part.type == "identifier":
            yield text(part)
        for child in named(part):
            is_whole = child.type == "identifier"  # of `* as a`
            yield text(child if is_whole else child.child_by_field_name("alias") or child.child_by_field_name("name"))


def _declared(declarator: Node) -> Iterator[str]:
    target, value = declarator.child_by_field_name("name"), declarator.child_by_field_name("value")
    if target is None or (value is not None and (TAKEN.fullmatch(text(value)) or _is_library(_module(value)))):
        return
    waiting = [target]
    while waiting:
        one = waiting.pop()
        if one.type in NAMES:
            yield text(one)
        waiting.extend(named(one))


def _module(value: Node) -> str | None:
    """The module that `require("a")`, or a member of it, is taken from."""
    inner: Node | None = value
    while inner is not None and inner.type in ("member_expression", "await_expression"):
        inner = inner.child_by_field_name("object") or next(named(inner), None)
    return required(inner) if inner is not None else None


def _is_library(module: str | None) -> bool:
    return module is not None and (canonical(module) in RUNNERS or CHECKERS.fullmatch(module) is not None)
