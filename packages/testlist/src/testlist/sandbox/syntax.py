"""The only module that touches tree-sitter: one parser a language, and small readings of nodes.

Imported in parsing children only.
"""

from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Final

from tree_sitter import Language, Node, Parser

#: language id -> (grammar package, function that returns the grammar)
GRAMMARS: Final = {
    "python": ("tree_sitter_python", "language"),
    "javascript": ("tree_sitter_javascript", "language"),
    "typescript": ("tree_sitter_typescript", "language_typescript"),
    "tsx": ("tree_sitter_typescript", "language_tsx"),
    "go": ("tree_sitter_go", "language"),
    "csharp": ("tree_sitter_c_sharp", "language"),
    "php": ("tree_sitter_php", "language_php"),
    "swift": ("tree_sitter_swift", "language"),
    "ruby": ("tree_sitter_ruby", "language"),
    "rust": ("tree_sitter_rust", "language"),
    "java": ("tree_sitter_java", "language"),
    "kotlin": ("tree_sitter_kotlin", "language"),
}

#: language id -> further ones that its files are tried in
ALSO: Final = {"javascript": ("tsx",)}


def load(language: str) -> None:
    """Load the grammars that files of a language, or configuration written in it, may take."""
    name = language.partition("-")[0]
    for one in (name, *ALSO.get(name, ())):
        if one in GRAMMARS:
            _parser(one)


@cache
def _parser(language: str) -> Parser:
    package, function = GRAMMARS[language]
    grammar: Callable[[], object] = getattr(import_module(package), function)
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
