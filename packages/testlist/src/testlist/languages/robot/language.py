"""Robot Framework, as the engine knows it.  What tests check is not read."""

from typing import Final

from testlist.language import Language, Syntax

ROBOT: Final = Language(
    name="robot",
    syntaxes=(Syntax(id="robot", suffixes=("robot",)),),
    depends="resolve_dependence",
)
