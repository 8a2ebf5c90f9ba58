"""Scala, as the engine knows it.  What tests check is not read."""

from typing import Final

from testlist.kit.hinting import DOTTED, SLASHES
from testlist.language import Grammar, Hints, Language, Syntax

SCALA: Final = Language(
    name="scala",
    syntaxes=(
        Syntax(
            id="scala",
            suffixes=("scala",),
            grammar=Grammar("tree-sitter-scala", "0.26.3", "tree_sitter_scala"),
            lenient=True,
        ),
    ),
    depends="resolve_dependence",
    hints=Hints(
        imports=DOTTED,
        texts=SLASHES,
        noise="List Map None Nil Option Seq Set Some assert assertEquals behavior describe forAll ignore in intercept "
        "it must property should test println",
        namespaces=(
            r"org\.(?:scalatest|scalatestplus|specs2|scalacheck|junit)",
            r"munit\b",
            r"utest\b",
            r"weaver\b",
            r"zio\.test",
            r"scala\.",
            r"java\.(?:util|lang|io)\b",
        ),
    ),
)
