"""Kotlin without what no rule reads: bodies of functions, and what the tests of a specification do."""

import re
from typing import Final

from testlist.kit.strip import blanked, pattern

#: code in a template of a string
_INNER: Final = rb"""[^{}"'`\n]++|"(?:[^"\\\n$]++|\\.|\$(?!\{))*\""""
HOLE: Final = rb"\$\{(?:%b|\{(?:%b)*\})*\}" % (_INNER, _INNER)
RAW: Final = rb'''"""(?:[^"]++|"(?!""))*""""*+'''  # quotes in a row end it together
QUOTED: Final = rb""""(?!\"\")(?:[^"\\\n$]++|\\.|\$(?!\{)|%b)*\"""" % HOLE
COMMENT: Final = rb"//[^\n]*+|/\*(?:[^*/]++|\*(?!/)|/(?!\*))*\*/"
TEXTS: Final = b"|".join((RAW, QUOTED, COMMENT, rb"'(?:[^'\\\n]++|\\.)+'", rb"`[^`\n]++`"))
PLAIN: Final = rb"""[^{}"'/`]++|/(?![/*])"""
DOUBTFUL: Final = rb"""["'`]|/\*"""

_FLAT: Final = rb"""[^(){}"'/`]++|%b""" % TEXTS
_PARENTHESES: Final = rb"\((?:%b|\((?:%b|\((?:%b)*\))*\))*\)" % (_FLAT, _FLAT, _FLAT)
_GIVEN: Final = rb"""=[ ]?[\w.]++(?:<[\w., ?*<>]{0,99}>)?(?:\([^(){}"'/`\n]*+\))?[ ]?"""
#: bounded where one may begin in another
FUNCTION: Final = (
    rb"""\bfun\s(?:[^(){}"'/=;\n`]{1,200}+|`[^`\n]{1,400}+`){0,4}"""
    + _PARENTHESES
    + rb"""[^{}"'/=;\n`]{0,200}+(?:\s*+|%b)""" % _GIVEN
)
#: where no specification stands, nothing that is given is read either
ANY: Final = pattern(rb"(?:%b|\binit[ ]|\bby lazy[ ]?|%b)" % (FUNCTION, _GIVEN), PLAIN, TEXTS, DOUBTFUL)
#: calls that are a test in every style that has them
TEST: Final = rb"(?<!\w)(?:x?(?:test|it|should|scenario|expect|then|Then)\((?:%b|[\w.]++)\)|%b)[ ]" % (QUOTED, QUOTED)
TESTS: Final = pattern(rb"(?:(?P<test>%b)|%b)" % (TEST, FUNCTION), PLAIN, TEXTS, DOUBTFUL)


#: what may be, or bring, a test of a specification
TELLING: Final = re.compile(
    rb"""["`]\s*+(?:\{|\.\s*+config\b)|\b[xf]?(?:test|it|should|scenario|expect|[tT]hen)`?[ ]?\(|\bwith[A-Z]|Spec\b"""
)


def stripped(source: bytes, *, specifies: bool) -> bytes:
    """Leave bodies out.  specifies: calls may build specifications here."""
    return blanked(source, TESTS, is_telling) if specifies else blanked(source, ANY)


def is_telling(found: re.Match[bytes]) -> bool:
    """Whether a function, perhaps, builds a specification."""
    body = found["body"]
    return not found["test"] and body.find(b"{", 1) > 0 and TELLING.search(body) is not None
