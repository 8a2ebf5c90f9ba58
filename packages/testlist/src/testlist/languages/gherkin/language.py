"""Gherkin, as the engine knows it.  What scenarios check is in code of other languages, and is not read."""

from typing import Final

from testlist.language import Format, Language, Syntax

GHERKIN: Final = Language(
    name="gherkin",
    syntaxes=(Syntax(id="gherkin", suffixes=("feature",), lenient=True, declares=True),),
    formats=(Format("gherkin-profiles", "config_profiles", lenient=True),),
    depends="resolve_dependence",
)
