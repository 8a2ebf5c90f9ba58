"""Conditional compilation in Swift: the declarations of a block that may be compiled."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from tasks.inventory.syntax import text

DIRECTIVE: Final = re.compile(r"#(if|elseif|else|endif)\b\s*+(.*+)")
NEVER: Final = re.compile(r"(?:false|0)\s*+(?:$|&&|//)")
ALWAYS: Final = re.compile(r"(?:true|1)\s*+(?:$|//)")


def live(block: Node) -> Iterator[Node]:
    """Children of a block, without branches that are never compiled."""
    dead: list[tuple[bool, bool]] = []  # (this branch is dead, an earlier one always is compiled)
    for child in block.named_children:
        if child.type == "directive" and (found := DIRECTIVE.match(text(child))):
            word, condition = found[1], found[2]
            if word == "if":
                dead.append((bool(NEVER.match(condition)), bool(ALWAYS.match(condition))))
            elif word == "endif":
                del dead[-1:]
            elif dead:
                taken = dead[-1][1]
                dead[-1] = (taken or bool(NEVER.match(condition)), taken or bool(ALWAYS.match(condition)))
        elif not any(skipped for skipped, _ in dead):
            yield child
