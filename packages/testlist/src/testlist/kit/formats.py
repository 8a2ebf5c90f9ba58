"""Plain configuration formats, as data: INI, JSON, the top of YAML, words of a command line."""

import configparser
import json
import re
import shlex
from collections.abc import Callable
from typing import Any, Final
from xml.parsers.expat import ExpatError

from testlist.model import Facts

#: strings, comments and runs of anything else; what is not closed ends with the text, so that no part is read twice
PIECES: Final = re.compile(r'"(?:[^"\\\n]|\\.)*+"?|//[^\n]*+|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/)?|[^"/]++|/')
TRAILING: Final = re.compile(r'("(?:[^"\\\n]|\\.)*+"?)|,\s*+([\]}])')

#: what readers of configuration raise for a broken file, which says nothing: whoever reads it again finds the same
BROKEN: Final = (ValueError, configparser.Error, ExpatError)


def extract(source: bytes, language: str) -> Facts:
    """Read a configuration file: {"data": ...}.  Raises: ValueError and its kin for broken files."""
    text = source.decode()
    return {"data": PLAIN[language](text)}


def plain(value: Any) -> Any:
    """Dates and times become text: facts are JSON."""
    return json.loads(json.dumps(value, default=str))


def _jsonc(text: str) -> Any:
    """JSON with comments and trailing commas."""
    try:
        return json.loads(text)
    except ValueError:
        kept = "".join(part for part in PIECES.findall(text) if not part.startswith(("//", "/*")))
        return json.loads(TRAILING.sub(lambda found: found[1] or found[2], kept))


def _flat_yaml(text: str) -> dict[str, Any]:
    """The top of a YAML mapping: strings, and lists of strings."""
    found: dict[str, Any] = {}
    key = ""
    for line in text.splitlines():
        bare = line.split(" #")[0].strip()
        if not bare or bare.startswith("#"):
            continue
        if bare.startswith("- ") and isinstance(found.get(key), list):
            found[key].append(_scalar(bare[2:]))
        elif not line[0].isspace() and ":" in bare:
            key, _, value = (part.strip() for part in bare.partition(":"))
            inline = [_scalar(one) for one in value.strip("[]").split(",")] if value.startswith("[") else None
            found[key] = inline or (_scalar(value) if value else [])
    return found


def _scalar(text: str) -> str:
    return text.strip().strip("'\"")


def _words(text: str) -> list[str]:
    """Options as they stand on a command line, over several lines."""
    return [word for line in text.splitlines() for word in shlex.split(line, comments=True)]


def _sections(text: str) -> dict[str, dict[str, str]]:
    parser = configparser.RawConfigParser(strict=False, allow_no_value=True)
    parser.read_string(text)
    return {name: {key: value or "" for key, value in parser.items(name)} for name in parser.sections()}


#: format -> its reader
PLAIN: Final[dict[str, Callable[[str], Any]]] = {
    "ini": _sections,
    "json": json.loads,
    "jsonc": _jsonc,
    "flat-yaml": _flat_yaml,
    "words": _words,
}
