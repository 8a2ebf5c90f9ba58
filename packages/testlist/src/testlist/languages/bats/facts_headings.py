"""Lines that begin a test or a function.  Tests are what the regular expressions of Bats' preprocessor take."""

import re
from typing import Final

#: white space between words, as these expressions know it
BLANK: Final = " \t"
MARK: Final = "@test"
#: where a name may end: in front of a brace that opens a body
OPENING: Final = re.compile(r"[ \t]\{")
#: the name of a function, read backwards
BACKWARDS: Final = re.compile(r"[^ \t()]++")
FUNCTION: Final = re.compile(r"[ \t]*+(?:function[ \t]++)?([\w:.-]++)[ \t]*+(?:\([ \t]*+\))?[ \t]*+\{(.*)")
#: name of a test, its column, and what follows the brace
Heading = tuple[str, int, str]


def heading(line: str) -> Heading | None:
    """The test that begins in a line; each line is looked through a fixed number of times."""
    bare = line.lstrip(BLANK)
    if bare.startswith(MARK) and bare[len(MARK) : len(MARK) + 1] in (" ", "\t"):
        found = _titled(bare[len(MARK) :].lstrip(BLANK))
        if found is not None:
            return unquoted(found[0]), len(line) - len(bare) + 1, found[1]
    named = _remarked(line)
    return None if named is None else (unquoted(named[0]), named[1], "")


def _titled(text: str) -> tuple[str, str] | None:
    """Title and body of `@test TITLE {BODY`: the title reaches to the last brace that may open a body."""
    ends = [found.start() for found in OPENING.finditer(text)]
    title = text[: ends[-1]].rstrip(BLANK) if ends else ""
    return (title, text[ends[-1] + 2 :]) if title else None


def _remarked(line: str) -> tuple[str, int] | None:
    """Name and column of `NAME() { # @test`, which is read from its end."""
    text = line.rstrip(BLANK)
    for part, spaced in ((MARK, False), ("#", True), ("{", True)):
        if not text.endswith(part):
            return None
        text = text.removesuffix(part)
        bare = text.rstrip(BLANK)
        if spaced and bare == text:
            return None
        text = bare
    text = text.removesuffix(")").removesuffix("(").rstrip(BLANK)
    found = BACKWARDS.match(text[::-1])
    return None if found is None else (found[0][::-1], len(text) - len(found[0]) + 1)


def unquoted(title: str) -> str:
    """A title without one quote at either end, whether they are a pair or not."""
    title = title[1:] if title[:1] in ("'", '"') else title
    return title[:-1] if title[-1:] in ("'", '"') else title
