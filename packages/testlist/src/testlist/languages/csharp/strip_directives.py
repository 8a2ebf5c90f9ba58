"""C# without its preprocessor lines: the grammar reads no `#if` between the parts of a declaration.

Every byte keeps its place: what is taken out becomes blanks.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

from testlist.languages.csharp.strip_tokens import blank, pattern, tokens

DIRECTIVE: Final = re.compile(rb"^[ \t]*#", re.MULTILINE)
#: inside of a group brackets are counted, outside only its beginning is of interest
INSIDE: Final = pattern(rb"#{}()\[\]", rb"\#[^\n]*+|[{}()\[\]]")
OUTSIDE: Final = pattern(rb"#", rb"\#[^\n]*+")
WORD: Final = re.compile(rb"#\s*(\w*)\s*([^\n]*)")
#: where text begins and ends
Span = tuple[int, int]
ENDS: Final = (b";", b"}", b"]")


@dataclass(slots=True, eq=False)
class Branch:
    """Text between two directives of a group."""

    start: int
    dead: bool
    always: bool = False
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


def blanked(source: bytes) -> tuple[bytes, list[Span]]:
    """Blank out directives, and the branches that cannot stand beside the others of their group.

    Also returns where the branches are that only a condition compiles, each outside the others, in order.
    """
    if not DIRECTIVE.search(source):
        return source, []
    kept = bytearray(source)
    conditional: list[Span] = []
    for start, stop in _gaps(source, conditional):
        blank(kept, start, stop)
    return bytes(kept), _outermost(conditional)


def _outermost(spans: list[Span]) -> list[Span]:
    found: list[Span] = []
    for start, stop in sorted(spans):
        if not found or start >= found[-1][1]:
            found.append((start, stop))
    return found


def _gaps(source: bytes, conditional: list[Span]) -> Iterator[Span]:
    groups: list[list[Branch]] = []
    position = 0
    while position < len(source):
        inside = bool(groups)
        for token in tokens(INSIDE if inside else OUTSIDE, source, position):
            yield from _token(source, token, groups, conditional)
            if bool(groups) != inside:
                position = token.end()
                break
        else:
            return


def _token(
    source: bytes, token: re.Match[bytes], groups: list[list[Branch]], conditional: list[Span]
) -> Iterator[Span]:
    sign = token["sign"]
    if sign is None:
        if groups and token.lastgroup == "comment":
            groups[-1][-1].comments.append(token.span("comment"))
    elif sign[:1] != b"#":
        if groups:
            groups[-1][-1].bracket(sign)
    elif not source[source.rfind(b"\n", 0, token.start("sign")) + 1 : token.start("sign")].strip():
        yield token.span("sign")
        yield from _directive(source, token, groups, conditional)


def _directive(
    source: bytes, token: re.Match[bytes], groups: list[list[Branch]], conditional: list[Span]
) -> Iterator[Span]:
    found = WORD.match(token["sign"])
    word, condition = (found[1], found[2].partition(b"//")[0].strip()) if found else (b"", b"")
    if word == b"if":
        groups.append([Branch(token.end(), condition == b"false", condition == b"true")])
    elif word in (b"elif", b"else", b"endif") and groups:
        groups[-1][-1].end = token.start("sign")
        if word == b"endif":
            yield from _close(source, groups, conditional)
        else:
            rest = word == b"else" and all(branch.dead for branch in groups[-1])
            groups[-1].append(Branch(token.end(), condition == b"false", rest))


def _close(source: bytes, groups: list[list[Branch]], conditional: list[Span]) -> Iterator[Span]:
    """Choose among the branches of the innermost group; what stays counts in the branch around it."""
    group = groups.pop()
    live = [branch for branch in group if not branch.dead]
    kept = live if all(branch.is_whole(source) for branch in live) else live[:1]
    conditional += [(branch.start, branch.end) for branch in kept if not branch.always]
    yield from ((branch.start, branch.end) for branch in group if branch not in kept)
    if groups:
        around = groups[-1][-1]
        for branch in kept:
            around.lowest = min(around.lowest, around.depth + branch.lowest)
            around.depth += branch.depth
