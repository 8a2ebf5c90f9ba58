"""The expressions of tags in the first profile of a YAML file, or in properties of a JVM."""

import re
from collections.abc import Iterator
from itertools import pairwise
from typing import Final

from testlist.languages.gherkin.config import TAGS, words_of
from testlist.model import Facts

#: the profile of a run that names none
PROFILE: Final = re.compile(r"""["']?default["']?\s*+:(.*)""")
NESTED: Final = re.compile(r"""\s++["']?tags["']?\s*+:\s*+(\S.*)""")
PROPERTY: Final = re.compile(r"cucumber\.filter\.tags\s*+[=:]\s*+(\S.*)")
#: what ERB puts in, and what it was given before
PUT_IN: Final = re.compile(r"<%=\s*+(\w++)\s*+%>")
GIVEN: Final = re.compile(r"""\s*+(\w++)\s*+=\s*+(["'])(.*)\2\s*+$""")


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - every reader has it
    """Read one file: {"data": {"tags": [...]}}."""
    given: dict[str, str] = {}
    found: list[str] = []
    inside = False
    for line in source.decode("utf-8", "replace").splitlines():
        if assigned := GIVEN.match(line):
            given[assigned[1]] = assigned[3]
        elif said := PROPERTY.match(line):
            found.append(said[1].strip())
        elif line[:1].isspace():
            found += [unquoted(said[1]) for said in [NESTED.match(line)] if said and inside]
        elif line and not line.startswith("#"):
            profile = PROFILE.match(line)
            inside = profile is not None
            found += options(profile[1], given) if profile else ()
    return {"data": {"tags": found}}


def unquoted(value: str) -> str:
    """A scalar of YAML without its quotes and the remark behind it."""
    quote = value[0]
    if quote in "\"'" and (end := value.find(quote, 1)) > 0:
        return value[1:end]
    return value.split(" #", maxsplit=1)[0].strip()


def options(line: str, given: dict[str, str]) -> Iterator[str]:
    """Expressions of a command line."""
    scalar = unquoted(line.strip()) if line.strip() else ""
    words = words_of(PUT_IN.sub(lambda found: given.get(found[1], ""), scalar))
    yield from (value for option, value in pairwise(words) if option in TAGS)
