"""Bodies that seed_passing_tests.py writes in place of real ones: such that cannot fail, and others that may."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from seed_tables import BODY, LANGUAGES

#: what turns checks of equal literals into such that fail
UNEQUAL: Final = (("1 == 1", "1 == 2"), ("1, 1", "1, 2"), ("1 != 1", "1 != 2"), ("expect(1)", "expect(2)"),
                  ("1 shouldBe 1", "1 shouldBe 2"), ("(1).isEqualTo(1)", "(1).isEqualTo(2)"), ("_(1)", "_(2)"),
                  ("1.Should", "2.Should"), ("(1, Is", "(2, Is"))  # fmt: skip
#: originals that may fail later or elsewhere, although all that they throw is caught: promises, and doubles
LATER: Final = {
    "javascript": r"\b(?:async|await|then|Promise|setTimeout|nextTick|emit|on|once|expect\.soft)\b",
    "php": r"expect|[mM]ock|prophesize|exit|Stub",
    "ruby": r"\bexpects?\b|\breceive\b|[mM]ock|Thread|fork",
}


class Seed(NamedTuple):
    """A body to write.  kind: why it cannot fail, or how it may."""

    kind: str
    body: str
    passes: bool


def seeds(language: str, original: str, file: str) -> Iterator[Seed]:
    """All bodies that may stand in place of an original one.  file: the source around it."""
    table = LANGUAGES[language]
    yield Seed("emptied", "pass" if language == "python" else "", passes=True)
    yield Seed("comments", f"{table.comment}\npass" if language == "python" else table.comment, passes=True)
    for kind, bodies in table.passing.items():
        if kind == "ignored" and language in LATER and re.search(LATER[language], original):
            continue
        yield from (Seed(kind, body, passes=True) for body in bodies)
    for pattern, bodies in table.constants:
        if re.search(pattern, original) and _is_known(language, bodies[0], file):
            yield from (Seed("constant", body, passes=True) for body in bodies)
            yield from (Seed("unequal", body, passes=False) for body in map(unequal, bodies) if body not in bodies)
            break
    yield from (Seed(kind, body, passes=False) for kind, body in table.failing.items())


def _is_known(language: str, check: str, file: str) -> bool:
    """Whether what a check begins with is a library's; in Go it is of a package that a file has to import."""
    package = check.partition(".")[0]
    return language != "go" or package not in ("require", "assert") or f'testify/{package}"' in file


def unequal(body: str) -> str:
    """A check of equal literals as one of unequal literals; the same if it has no numbers."""
    for equal, other in UNEQUAL:
        if equal in body:
            return body.replace(equal, other)
    return body


def written(body: str, original: str, indent: str) -> str:
    """A body with the original in its place, on lines of their own behind an indentation."""
    lines: list[str] = []
    for one in body.splitlines():
        if one.strip() == BODY:
            inner = indent + one[: len(one) - len(one.lstrip())]
            lines += [inner + line if line.strip() else "" for line in original.splitlines()]
        else:
            lines.append(indent + one)
    return "\n".join(lines)
