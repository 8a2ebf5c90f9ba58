"""What attributes of TUnit mean that make no test.  Their names are not its alone, so they count in its own files."""

import re
from collections.abc import Collection
from typing import Final

#: attribute -> the word for the same in another framework, or its own where no other has it
INHERITS: Final = "InheritsTests"
WORDS: Final = {"Skip": "Ignore", "Arguments": "InlineData", INHERITS: INHERITS, "Property": ""}
DATA: Final = "MemberData"
#: attributes that skip on some systems; a class derived from Skip says when by a method, which is not read
CONDITIONS: Final = frozenset({"RunOn", "ExcludeOn"})
SKIP: Final = "Skip"
#: attributes that give the cases of a test
SOURCE: Final = re.compile(r"(?:DataSource|DataSources|DataSourceGenerator|GenerateGenericTest|FsCheckProperty)\Z")


def meant(name: str, bases: Collection[str]) -> tuple[str, bool] | None:
    """The word for an attribute, and whether it is a condition; None for one that is not TUnit's.

    bases: what a class of the repository of that name is derived from.
    """
    if name in WORDS:
        return WORDS[name], False
    if SKIP in bases or not CONDITIONS.isdisjoint((name, *bases)):
        return "", True
    return (DATA, False) if any(SOURCE.search(one) for one in (name, *bases)) else None
