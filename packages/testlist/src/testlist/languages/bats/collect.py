"""Rows of Bats files."""

from collections.abc import Iterator
from typing import Final

from testlist.kit.rows import row
from testlist.languages.bats.shape import BatsFacts
from testlist.model import Test

FRAMEWORK: Final = "bats"
ALWAYS: Final = "always"


def collect(path: str, facts: BatsFacts) -> Iterator[Test]:
    """Tests of one file; what its setup does happens to all of them."""
    for fact in facts.get("tests", ()):
        skips = {fact.get("skips", ""), facts.get("skips", "")} - {""}
        status = "skipped" if ALWAYS in skips else "focused" if "focused" in fact else "active"
        dynamic = fact.get("dynamic", False)
        yield row(FRAMEWORK, path, (), fact["name"], fact, status=status, dynamic=dynamic, depends=bool(skips))
