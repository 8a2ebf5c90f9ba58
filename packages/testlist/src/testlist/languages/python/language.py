"""Python, as the engine knows it."""

from typing import Final

from testlist.kit.hinting import HASHES
from testlist.language import Format, Grammar, Hints, Language, Libraries, Syntax

PYTHON: Final = Language(
    name="python",
    syntaxes=(
        Syntax(
            id="python",
            suffixes=("py",),
            grammar=Grammar("tree-sitter-python", "0.25.0", "tree_sitter_python", oldest="0.23.6"),
            declares=True,
            bodies="python-bodies",
        ),
    ),
    formats=(
        Format("toml", "config_toml"),
        Format("python-bodies", "checks", syntax="python", declares=True, on_demand=True),
    ),
    calls="resolve_calls",
    depends="resolve_dependence",
    libraries=Libraries(checks=("_pytest/assertion/rewrite.py", "Lib/unittest/case.py")),
    hints=Hints(
        imports=rb"^[ \t]*+(?:from|import)[ \t]+(?P<import>\.*+\w[\w.]*+)",
        texts=HASHES,
        noise="parametrize pytest raises unittest",
        modules="pytest unittest",
    ),
)
