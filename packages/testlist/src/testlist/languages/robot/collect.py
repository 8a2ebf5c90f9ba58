"""Rows of Robot Framework files."""

import re
from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from testlist.kit.rows import row
from testlist.languages.robot.shape import RobotFacts, Said
from testlist.model import Test

FRAMEWORK: Final = "robot"
ALWAYS: Final = "always"
#: names that a run makes of values
COMPUTED: Final = re.compile(r"[$@&%]\{")


class Around(NamedTuple):
    """The suites around a test, and what they say."""

    suites: tuple[str, ...]
    said: Sequence[Said]


def around(path: str, facts: RobotFacts, above: Sequence[tuple[str, RobotFacts]]) -> Around:
    """Suites of a file.  above: folders that are suites, the outermost first, with what their files say."""
    named = [one.get("name") or suite_name(folder.rpartition("/")[2]) for folder, one in above]
    own = facts.get("name") or suite_name(path.rpartition("/")[2].rpartition(".")[0])
    return Around((*filter(None, named), own), [*(one for _, one in above), facts])


def suite_name(stem: str) -> str:
    """What a run calls a file or a folder: without a prefix for its place, and with capitals if it has none."""
    name = (stem.partition("__")[2] or stem).replace("_", " ").strip()
    return name.title() if name.islower() else name


def collect(path: str, facts: RobotFacts, given: Around) -> Iterator[Test]:
    """Tests of one file."""
    for fact in facts.get("tests", ()):
        skips = {said.get("skips", "") for said in (*given.said, fact)} - {""}
        tags = {tag for said in given.said for tag in said.get("tags", ())} - {*fact.get("untagged", ())}
        left_out = ALWAYS in skips or bool(tags | {*fact.get("tags", ())})
        is_templated = fact.get("templated", facts.get("templated", False))
        several = is_templated and (fact.get("rows", 0) > 1 or "blocks" in fact)
        yield row(
            FRAMEWORK,
            path,
            given.suites,
            fact["name"],
            fact,
            status="skipped" if left_out else "active",
            dynamic=several or "driven" in facts or COMPUTED.search(fact["name"]) is not None,
            cases=fact["rows"] if several and "blocks" not in fact else None,
            depends=bool(skips),
        )
