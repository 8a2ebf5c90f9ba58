"""Rust without the bodies of its functions: no test that runs is declared in them, and macros are read without them."""

from typing import Final

from testlist.kit.strip import blanked, pattern

#: a quotation mark behind `r` begins a raw string; the scan comes upon the mark, not upon the letter
RAW: Final = rb"""(?<=r)"[^"]*+"|(?<=r\#)"(?:[^"]++|"(?!\#))*"\#|(?<=r\#\#)"(?:[^"]++|"(?!\#\#))*"\#\#"""
QUOTED: Final = rb'''(?<![r\#])"(?:[^"\\]++|\\.)*"'''
LETTER: Final = rb"""'(?:[^'\\\n\x80-\xff]|[\x80-\xff]{1,16}+|\\(?:u\{[^}'\n]{1,12}+\}|x..|.))'"""
LIFETIME: Final = rb"'\w++(?!')"
COMMENT: Final = rb"//[^\n]*+|/\*[^*/]*+(?:(?:\*(?!/)|/(?!\*))[^*/]*+)*\*/"
PLAIN: Final = rb"""[^{}"'/]++|/(?![/*])"""
#: what a function is given, and what stands between that and its body: a type, perhaps conditions
GIVEN: Final = rb"\((?:[^(){}]++|\((?:[^(){}]++|\([^(){}]*+\))*\))*\)"
RESULT: Final = rb"(?:[^(){};=\[\]]{1,80}+|=(?!>)|\([^(){};]{0,200}+\)|\[[^\[\](){}]{0,80}+\]){0,24}"
HEADING: Final = rb"\bfn\s[\s\w$]{1,80}+(?:<[^(){};=]{0,200}+)?" + GIVEN + RESULT
SCAN: Final = pattern(HEADING, PLAIN, b"|".join((RAW, QUOTED, LETTER, LIFETIME, COMMENT)), rb"""["']|/\*""")


def stripped(source: bytes) -> bytes:
    """Leave the bodies out."""
    return blanked(source, SCAN)
