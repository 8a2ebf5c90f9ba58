"""What an example prints: its last group of comments, if that begins with `Output:`."""

import re
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import text

HINT: Final = b"output:"
OUTPUT: Final = re.compile(r"(?i)\s*(unordered )?output:")
#: what tools read in a comment, not people
DIRECTIVE: Final = re.compile(r"//(line |[a-z0-9]++:[a-z0-9])")


def has_output(body: Node | None) -> bool:
    """Whether `go test` runs an example of this body, not only compiles it."""
    source = body.text or b"" if body is not None else b""
    if body is None or HINT not in source.lower():
        return False
    group = _last_group(_comments(body), source, body.start_byte)
    words = (_words(text(comment)) for comment in group)
    return bool(OUTPUT.match("\n".join(words)))


def _comments(body: Node) -> list[Node]:
    """All comments of a body, as they stand."""
    found, todo = [], [body]
    while todo:
        node = todo.pop()
        if node.type == "comment":
            found.append(node)
        else:
            todo += reversed(node.named_children)
    return found


def _last_group(comments: list[Node], source: bytes, offset: int) -> list[Node]:
    """Comments on lines one below the other without anything between; one that trails code stands alone."""
    group = comments[-1:]
    for above in reversed(comments[:-1]):
        start = above.start_byte - offset
        between = source[above.end_byte - offset : group[-1].start_byte - offset]
        trails = bool(source[source.rfind(b"\n", 0, start) + 1 : start].strip())
        if between.strip() or between.count(b"\n") > (0 if trails else 1):
            break
        group.append(above)
    return group[::-1]


def _words(comment: str) -> str:
    if comment.startswith("/*"):
        return comment[2:-2]
    return "" if DIRECTIVE.match(comment) else comment[2:]
