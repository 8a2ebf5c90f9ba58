"""Elixir, as the engine knows it.  What tests check is not read."""

from typing import Final

from testlist.kit.hinting import HASHES
from testlist.language import Grammar, Hints, Language, Syntax

ELIXIR: Final = Language(
    name="elixir",
    syntaxes=(
        Syntax(
            id="elixir",
            suffixes=("ex", "exs"),
            grammar=Grammar("tree-sitter-elixir", "0.3.5", "tree_sitter_elixir", oldest="0.3.4"),
        ),
    ),
    depends="resolve_dependence",
    hints=Hints(
        imports=rb"^[ \t]*+(?:alias|import|use|require)[ \t]++(?P<import>[A-Z][\w.]*+)",
        texts=HASHES,
        noise="assert assert_raise assert_receive defmodule describe doctest fn refute setup setup_all test unquote",
        modules="ExUnit ExUnitProperties",
        namespaces=(r"ExUnit\.",),
    ),
)
