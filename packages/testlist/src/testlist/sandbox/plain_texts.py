"""Texts of facts without what no database takes: a NUL, and half of a character that has two."""

import json
import re
from typing import Any, Final

from testlist.model import Facts

_SEPARATORS: Final = (",", ":")
#: in JSON, what may be such a text: seldom there, and also both halves of a whole character
DOUBTFUL: Final = r"\\u0000|\\u[dD][89a-fA-F]"
NO_TEXT: Final = re.compile("[\0\ud800-\udfff]")
_MAY_BE_NONE: Final = re.compile(DOUBTFUL)
#: what stands for a character that cannot be shown
REPLACEMENT: Final = "\ufffd"


def plain_json(facts: Facts) -> bytes:
    """Facts in JSON.  A title may say a NUL in its language, and its file is read all the same."""
    said = json.dumps(facts, separators=_SEPARATORS)
    if _MAY_BE_NONE.search(said):
        # read again, two halves that stand beside each other are one character
        said = json.dumps(_plain(json.loads(said)), separators=_SEPARATORS)
    return said.encode()


def _plain(part: Any) -> Any:
    if isinstance(part, str):
        return NO_TEXT.sub(REPLACEMENT, part)
    if isinstance(part, dict):
        return {_plain(name): _plain(value) for name, value in part.items()}
    if isinstance(part, list):
        return [_plain(one) for one in part]
    return part
