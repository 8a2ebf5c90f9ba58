"""C# without its preprocessor lines: the grammar reads no `#if` between the parts of a declaration.

Every byte keeps its place: what is taken out becomes blanks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from tasks.inventory.csharp.lexis import blank, pattern, tokens

DIRECTIVE: Final = re.compile(rb"^[ \t]*#", re.MULTILINE)
TOKEN: Final = pattern(rb"#{}()\[\]", rb"\#[^\n]*+|[{}()\[\]]")
WORD: Final = re.compile(rb"#\s*(\w*)\s*([^\n]*)")
ENDS: Final = (b";", b"}", b"]")


@dataclass(slots=True, eq=False)
class Branch:
    """Text between two directives of a group."""

    start: int
    dead: bool
    end: int = 0
    depth: int = 0
    lowest: int = 0
    comments: list[tuple[int, int]] = field(default_factory=list)

    def bracket(self, sign: bytes) -> None:
        """Count one bracket."""
        self.depth += 1 if sign in b"{([" else -1
        self.lowest = min(self.lowest, self.depth)

    def is_whole(self, source: bytes) -> bool:
        """Whether it holds whole declarations or statements, so that it may stand beside its rivals."""
        end = self.end
        for start, stop in reversed(self.comments):
            if source[stop:end].strip():
                break
            end = start
        code = source[self.start : end].rstrip()
        return not self.depth and not self.lowest and (not code or code.endswith(ENDS))


def blanked(source: bytes) -> bytes:
    """Blank out directives, and the branches that cannot stand beside the others of their group."""
    if not DIRECTIVE.search(source):
        return source
    kept = bytearray(source)
    for start, stop in _gaps(source):
        blank(kept, start, stop)
    return bytes(kept)


def _gaps(source: bytes) -> Iterator[tuple[int, int]]:
    groups: list[list[Branch]] = []
    for token in tokens(TOKEN, source):
        sign = token["sign"]
        if sign is None:
            if groups and token.lastgroup == "comment":
                groups[-1][-1].comments.append(token.span("comment"))
        elif sign[:1] != b"#":
            if groups:
                groups[-1][-1].bracket(sign)
        elif not source[source.rfind(b"\n", 0, token.start("sign")) + 1 : token.start("sign")].strip():
            yield token.span("sign")
            yield from _directive(source, token, groups)


def _directive(source: bytes, token: re.Match[bytes], groups: list[list[Branch]]) -> Iterator[tuple[int, int]]:
    found = WORD.match(token["sign"])
    word, condition = (found[1], found[2].partition(b"//")[0].strip()) if found else (b"", b"")
    if word == b"if":
        groups.append([Branch(token.end(), condition == b"false")])
    elif word in (b"elif", b"else", b"endif") and groups:
        groups[-1][-1].end = token.start("sign")
        if word == b"endif":
            yield from _close(source, groups)
        else:
            groups[-1].append(Branch(token.end(), condition == b"false"))


def _close(source: bytes, groups: list[list[Branch]]) -> Iterator[tuple[int, int]]:
    """Choose among the branches of the innermost group; what stays counts in the branch around it."""
    group = groups.pop()
    live = [branch for branch in group if not branch.dead]
    kept = live if all(branch.is_whole(source) for branch in live) else live[:1]
    yield from ((branch.start, branch.end) for branch in group if branch not in kept)
    if groups:
        around = groups[-1][-1]
        for branch in kept:
            around.lowest = min(around.lowest, around.depth + branch.lowest)
            around.depth += branch.depth
