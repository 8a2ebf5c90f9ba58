"""The only module that touches tree-sitter: one parser a language, and small readings of nodes.

Imported in parsing children only.
"""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Final

from tree_sitter import Language, Node, Parser

from testlist.languages import SYNTAXES, grammars_of

#: language id -> its grammar
GRAMMARS: Final = {syntax.id: syntax.grammar for syntax in SYNTAXES.values() if syntax.grammar is not None}


def load(language: str) -> None:
    """Load the grammars that files of a language, or configuration written in it, may take."""
    for one in grammars_of(language):
        _parser(one)


@cache
def _parser(language: str) -> Parser:
    found = GRAMMARS[language]
    grammar: Callable[[], object] = getattr(import_module(found.module), found.function)
    return Parser(Language(grammar()))


def parse(source: bytes, language: str) -> Node:
    """Parse into the root node.  Broken source gives a tree with ERROR nodes, never an exception."""
    return _parser(language).parse(source).root_node


def text(node: Node | None) -> str:
    """Source text of a node; empty for none."""
    raw = node.text if node is not None else None
    return raw.decode("utf-8", "replace") if raw else ""


def line(node: Node) -> int:
    """First line, 1-based."""
    return node.start_point.row + 1


def end_line(node: Node) -> int:
    """Last line, 1-based."""
    return node.end_point.row + 1


def column(node: Node) -> int:
    """First column, 1-based, in bytes."""
    return node.start_point.column + 1


def named(node: Node | None) -> Iterator[Node]:
    """Named children without comments."""
    if node is not None:
        yield from (child for child in node.named_children if child.type != "comment")
