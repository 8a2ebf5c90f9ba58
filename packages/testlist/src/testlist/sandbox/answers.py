"""What a parsing child may answer.  A file could take it over: nothing it says is believed before it was looked at."""

import json
import re
from typing import Any, Final, NoReturn

from testlist.model import LARGEST, Facts
from testlist.sandbox.plain_texts import DOUBTFUL, NO_TEXT

#: containers in containers; what readers answer has some twenty at most, but for configuration files
DEPTH: Final = 200
#: containers and values of one answer: a file of one MiB gives a tenth of it
CONTAINERS: Final = 1 << 20
VALUES: Final = 1 << 22
#: hints of one file, and letters of one
HINTS: Final = 64
LONGEST: Final = 400
#: what a file that was not read may be skipped for
REASONS: Final = frozenset({"binary", "unreadable", "parse_failed"})

#: seldom in an answer: a NUL or half a character, which no database takes, and long numbers
_DOUBTFUL: Final = re.compile(DOUBTFUL.encode() + rb"|[0-9]{10}")


class Unsound(ValueError):  # noqa: N818 - an outcome of an answer
    """An answer that none of our readers gives."""


def facts_in(line: bytes) -> Facts:
    """Read one answer.  Raises: Unsound."""
    if line.count(b"{") + line.count(b"[") > CONTAINERS or line.count(b",") > VALUES:
        raise Unsound("too much")
    try:
        found = _DECODER.decode(line.decode())
    except (ValueError, RecursionError) as error:
        raise Unsound("no facts") from error
    if not isinstance(found, dict):
        raise Unsound("no facts")
    _shallow(found)
    if _DOUBTFUL.search(line):
        _plain(found)
    if "skipped" in found and found != {"skipped": _reason(found)}:
        raise Unsound("skipped and read")
    if "hints" in found and not _are_hints(found["hints"]):
        raise Unsound("no hints")
    return found


def _are_hints(found: object) -> bool:
    return (
        isinstance(found, list)
        and len(found) <= HINTS
        and all(isinstance(one, str) and len(one) <= LONGEST for one in found)
    )


def _refuse(literal: str) -> NoReturn:
    raise Unsound(f"a number {literal[:20]}")


_DECODER: Final = json.JSONDecoder(parse_float=_refuse, parse_constant=_refuse)


def _reason(facts: Facts) -> str:
    reason = facts["skipped"]
    if not isinstance(reason, str) or reason not in REASONS:
        raise Unsound("skipped for no reason")
    return reason


def _shallow(facts: Facts) -> None:
    level: list[Any] = [facts]
    for _ in range(DEPTH):
        level = [
            part
            for whole in level
            for part in (whole.values() if type(whole) is dict else whole)
            if type(part) is dict or type(part) is list
        ]
        if not level:
            return
    raise Unsound("too deep")


def _plain(facts: Facts) -> None:
    """Look at every value.  Raises: Unsound for what no database takes."""
    rest: list[Any] = [facts]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            rest += one.keys()
            rest += one.values()
        elif isinstance(one, list):
            rest += one
        elif isinstance(one, str):
            if NO_TEXT.search(one):
                raise Unsound("a text that is none")
        elif isinstance(one, int) and abs(one) > LARGEST:
            raise Unsound("a large number")
