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


def stripped(source: bytes) -> bytes:
    """Leave out what no rule reads."""
    telling = COMMENTED if b"func Example" in source else TELLING
    return blanked(source, SCAN, lambda found: telling.search(found["body"]), within=True)
