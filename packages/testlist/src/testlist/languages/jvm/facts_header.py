"""What stands in a Kotlin file before its declarations: read sign by sign, which is cheaper than its tree."""

import re
from typing import Final, NamedTuple

from testlist.languages.jvm.shape import Import
from testlist.languages.jvm.strip_kotlin import COMMENT, QUOTED

_NAME: Final = rb"(?:\w++|`[^`\n]++`)(?:\.(?:\w++|`[^`\n]++`))*"
#: the end of a statement: no further name follows in its line
_END: Final = rb"[ \t]*+;?(?=\s|\Z)"
STATEMENT: Final = re.compile(
    rb"\s++|%b|@file:[\w.]++(?:\((?:[^()\"'/]++|%b)*\))?(?![\w.(:])" % (COMMENT, QUOTED)
    + rb"|package[ ]++(?P<package>%b)%b" % (_NAME, _END)
    + rb"|import[ ]++(?P<import>%b)(?:(?P<star>\.\*)|[ ]++as[ ]++(?P<alias>\w++|`[^`\n]++`))?%b" % (_NAME, _END)
)


class Preamble(NamedTuple):
    """The beginning of a file, with its package and imports.

    end: where declarations begin; imports: the alias of all of a package is `*`.
    """

    end: int
    package: str
    imports: list[Import]


def read(source: bytes) -> Preamble:
    """Read up to the first sign that is neither a comment, nor a package's name, nor an import."""
    package, end = "", 0
    imports: list[Import] = []
    while found := STATEMENT.match(source, end):
        end = found.end()
        if found.lastgroup == "package":
            package = _plain(found["package"])
        elif found.lastgroup is not None:
            path = _plain(found["import"])
            alias = "*" if found["star"] else _plain(found["alias"] or b"") or path.rpartition(".")[2]
            imports.append((path, alias))
    return Preamble(end, package, imports)


def _plain(name: bytes) -> str:
    return name.decode().replace("`", "")
