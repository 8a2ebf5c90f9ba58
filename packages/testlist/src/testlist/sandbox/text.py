"""From the bytes of a blob to UTF-8 text, or a reason why it is none."""

import codecs
import encodings
import pkgutil
import re
from encodings.aliases import aliases
from functools import cache
from typing import Final

from testlist.languages import FORMATS, SYNTAXES

COOKIE: Final = re.compile(rb"^[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
MARKS: Final = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
#: languages and formats whose runtimes and compilers let bad bytes pass or are told an encoding
LENIENT: Final = frozenset(
    [*(one.id for one in SYNTAXES.values() if one.lenient), *(one.id for one in FORMATS.values() if one.lenient)]
)
#: languages whose files may say their encoding
DECLARING: Final = frozenset(
    [*(one.id for one in SYNTAXES.values() if one.declares), *(one.id for one in FORMATS.values() if one.declares)]
)
#: a text may hold one NUL in so many bytes, as strings that are compared with others do
FEW: Final = 1000
#: or any number in one line of so many, as long strings that a fuzzer found do
FEW_LINES: Final = 20
#: what parsers and databases take in its place
STANDING_IN: Final = b"\1"

#: encodings that need no import of their own
USUAL: Final = frozenset({"utf-8", "utf8", "UTF-8", "latin-1", "utf-8-sig", "utf-16"})


class Unreadable(Exception):  # noqa: N818 - an outcome of a file, not a fault
    """The blob is no text its language's own tools would read.  reason: unreadable or binary."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def utf8(source: bytes, language: str) -> bytes:
    """Return source as UTF-8 without byte order mark.  Raises: Unreadable."""
    codec = next((name for mark, name in MARKS if source.startswith(mark)), None)
    if codec == "utf-16" and language not in LENIENT:
        raise Unreadable("unreadable")
    if codec != "utf-16" and (zeros := source.count(b"\0")):
        if language not in LENIENT or (zeros * FEW > len(source) and not _gathered(source)):
            raise Unreadable("binary")
        source = source.replace(b"\0", STANDING_IN)
    try:
        return source.decode(codec or _declared(source, language)).encode()
    except (UnicodeError, LookupError):
        return _repaired(source, language)


def codec(source: bytes, language: str) -> str | None:
    """The encoding a file says it is in, if Python has one of this name; None for the usual ones."""
    said = _declared(source, language)
    if said in USUAL:
        return None
    name = encodings.normalize_encoding(said).lower()
    found = aliases.get(name, name)
    return found if found in _modules() else None


@cache
def _modules() -> frozenset[str]:
    return frozenset(module.name for module in pkgutil.iter_modules(encodings.__path__))


def _gathered(source: bytes) -> bool:
    """Whether all NULs stand in few of many lines."""
    lines = source.split(b"\n")
    return sum(b"\0" in line for line in lines) * FEW_LINES <= len(lines)


def _declared(source: bytes, language: str) -> str:
    """PEP 263: a file says its encoding in one of its first two lines."""
    if language not in DECLARING:
        return "utf-8"
    found = next(filter(None, map(COOKIE.match, source.split(b"\n", 2)[:2])), None)
    return found[1].decode() if found else "utf-8"


def _repaired(source: bytes, language: str) -> bytes:
    text = source.decode("utf-8", "replace")
    if language not in LENIENT or text.count("\ufffd") * 20 > len(text):
        raise Unreadable("unreadable")
    return text.encode()
