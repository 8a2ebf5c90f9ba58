"""Go without the contents of braces, but for the fields of types and for bodies that matter for tests."""

import re
from typing import Final

from testlist.kit.strip import COMMENT, blanked, pattern

QUOTED: Final = rb"""\"(?:[^"\\\n]++|\\.)*+"|'(?:[^'\\\n]++|\\.)*+'|`[^`]*+`"""
PLAIN: Final = rb"""[^{}"'`/]++|/(?![/*])"""
#: braces of types hold fields
HEADING: Final = rb"(?<!struct)(?<!struct )(?<!interface)(?<!interface )"
SCAN: Final = pattern(HEADING, PLAIN, b"|".join((QUOTED, COMMENT)), rb"""["'`]|/\*""")
#: a test that is skipped, subtests, suites that are run
TELLING: Final = re.compile(rb"Skip|Run\(|Suite\(")
#: the same, and comments, of which the last tells what an example prints
COMMENTED: Final = re.compile(rb"Skip|Run\(|Suite\(|/[/*]")
#: a file with specs, and what tells of these
SPECS: Final = re.compile(rb"github\.com/(?:onsi/ginkgo|smarty(?:streets)?/goconvey)\b")
SPECIFIED: Final = re.compile(
    rb"[Ss]kip|Run\(|Suite\(|(?:Describe|Context|When|It|Specify|Measure|Table|Subtree|Entry|Convey)\("
)
#: `new` with a value, of Go 1.26 or of a file's own, which the grammar does not know and breaks off at
VALUED: Final = re.compile(rb"\bnew\((?=[\"`'\d])")


def readable(source: bytes) -> bytes:
    """What the grammar reads: as long, and with every name but one as it is."""
    return VALUED.sub(b"neW(", source) if b"new(" in source else source


def stripped(source: bytes) -> bytes:
    """Leave out what no rule reads."""
    source = readable(source)
    telling = COMMENTED if b"func Example" in source else TELLING
    if SPECS.search(source) is not None:
        if telling is COMMENTED:
            return source
        telling = SPECIFIED
    return blanked(source, SCAN, lambda found: telling.search(found["body"]), within=True)
