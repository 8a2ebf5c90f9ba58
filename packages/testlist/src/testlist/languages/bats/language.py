"""Bats, as the engine knows it.  What tests check is not read."""

from typing import Final

from testlist.language import Language, Libraries, Syntax

BATS: Final = Language(
    name="bats",
    syntaxes=(Syntax(id="bats", suffixes=("bats",), lenient=True),),
    depends="resolve_dependence",
    libraries=Libraries(
        layouts={
            "libexec/bats-core/bats": "^bats",
            "src/assert_equal.bash": "^bats-assert",
            "src/output.bash": "^bats-support",
            "src/file.bash": "^bats-file",
        }
    ),
)
