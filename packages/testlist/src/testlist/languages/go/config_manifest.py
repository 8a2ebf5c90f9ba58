"""go.mod: the path of a module, and whether it asks for Ginkgo."""

import re
from typing import Final

from testlist.model import Facts

MODULE: Final = re.compile(r"(?m)^[ \t]*+module[\s(]++[\"`]?([^\s\"`()]++)")
REQUIRED: Final = re.compile(r"(?m)^[ \t]*+(?:require[ \t]+)?github\.com/onsi/ginkgo(?:/v\d+)?[ \t]+v")


def extract(source: bytes, language: str) -> Facts:  # noqa: ARG001 - readers have it
    """Read one file: {"data": {"module": path, "ginkgo": True}}, the latter only if so."""
    words = source.decode()
    found = MODULE.search(words)
    data: dict[str, object] = {"module": found[1]} if found else {}
    if REQUIRED.search(words) is not None:
        data["ginkgo"] = True
    return {"data": data}
