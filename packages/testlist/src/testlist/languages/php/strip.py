"""PHP without the bodies of its named functions, for a test is known by its name and what stands above it."""

import re
from typing import Final

from testlist.kit.strip import blanked, nothing, pattern

QUOTED: Final = rb"""'(?:[^'\\]++|\\.)*'"""
#: what is put into a string may hold a string itself, which is not followed
FILLED: Final = rb"""\"(?:[^"\\{$]++|\\.|\{(?!\$)|\$(?!\{)|\{\$[^{}"]*+\}|\$\{[^{}"]*+\})*\""""
COMMENT: Final = rb"//[^\n\r]*+|\#(?!\[)[^\n\r]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*\*/"
PLAIN: Final = rb"""[^{}"'`/\#<]++|/(?![/*])|<(?!<<)|\#\["""
HEADING: Final = (
    rb"(?<![\w$>:\\])function\s++&?\s*+[\w\x80-\xff]++\s*+"
    rb"""\([^(){}"'`/\#<;]*+\)(?:\s*+:[\s\w\\|?&\x80-\xff]*+)?\s*+"""
)
SCAN: Final = pattern(HEADING, PLAIN, b"|".join((QUOTED, FILLED, COMMENT)), rb"""["'`]|<<<|/\*""")
OPENING: Final = re.compile(rb"<\?php\s")
#: a set-up or a first statement that skips or postpones tests
TELLING: Final = b"marktest"


def stripped(source: bytes) -> bytes:
    """Leave the bodies out; of a file that is not PHP from its beginning to its end none."""
    if not OPENING.match(source) or b"?>" in source:
        return source
    return blanked(source, SCAN, is_telling if TELLING in source.lower() else nothing)


def is_telling(found: re.Match[bytes]) -> bool:
    """Whether a body has the word, in whatever case."""
    return TELLING in found["body"].lower()
