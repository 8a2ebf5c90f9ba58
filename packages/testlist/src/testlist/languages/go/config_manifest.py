"""go.mod: the path of a module."""

import re
from typing import Final

from testlist.model import Facts

MODULE: Final = re.compile(r"(?m)^[ \t]*+module[\s(]++[\"`]?([^\s\"`()]++)")


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - readers have it
    """Read one file: {"data": {"module": path}}."""
    found = MODULE.search(source.decode())
    return {"data": {"module": found[1]} if found else {}}
