"""What PHPUnit reads in the comment above a method."""

import re
from typing import Final

TAG: Final = re.compile(r"@(test|dataProvider|testWith)\b(?!\w)", re.ASCII)
#: a row of `@testWith`, on the line of the tag or on its own
ROW: Final = re.compile(r"^[ \t]*(?:\*[ \t]*)?(?:@testWith[ \t]+)?\[", re.MULTILINE)
REQUIREMENT: Final = re.compile(r"^[ \t]*(?:/\*)?\*[ \t]*@requires[ \t]", re.MULTILINE)
NEXT: Final = re.compile(r"^[ \t]*\*[ \t]*@(?!testWith)", re.MULTILINE)


def tags(comment: str) -> frozenset[str]:
    """The tags that matter here."""
    return frozenset(TAG.findall(comment)) if comment.startswith("/**") else frozenset()


def requires(comment: str) -> bool:
    """Whether `@requires` names what must be there for tests to run."""
    return comment.startswith("/**") and "@requires" in comment and bool(REQUIREMENT.search(comment))


def rows(comment: str) -> int:
    """Rows listed after `@testWith`."""
    start = comment.find("@testWith")
    if start < 0:
        return 0
    end = NEXT.search(comment, start)
    return len(ROW.findall(comment[start : end.start() if end else len(comment)].replace("@testWith", " ")))
