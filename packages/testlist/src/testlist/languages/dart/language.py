"""Dart, as the engine knows it."""

from typing import Final

from testlist.language import Grammar, Language, Syntax

DART: Final = Language(
    name="dart",
    syntaxes=(
        Syntax(
            id="dart",
            suffixes=("dart",),
            grammar=Grammar("tree-sitter-dart", "0.1.0", "tree_sitter_dart"),
        ),
    ),
)
