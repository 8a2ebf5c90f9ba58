"""Conditional compilation in Swift: the declarations of a block that may be compiled."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import text

DIRECTIVE: Final = re.compile(r"#(if|elseif|else|endif)\b\s*+(.*+)")
NEVER: Final = re.compile(r"(?:false|0)\s*+(?:$|&&|//)")
ALWAYS: Final = re.compile(r"(?:true|1)\s*+(?:$|//)")


def live(block: Node) -> Iterator[tuple[Node, bool]]:
    """Children of a block, without branches that are never compiled; each with whether a condition decides."""
    levels: list[tuple[bool, bool]] = []  # (this branch is dead, an earlier one always is compiled)
    choices: list[bool] = []
    dead = 0
    for child in block.named_children:
        found = DIRECTIVE.match(text(child)) if child.type == "directive" else None
        if found is None:
            if not dead:
                yield child, any(choices)
            continue
        skipped, taken = levels.pop() if levels and found[1] != "if" else (False, False)
        dead -= skipped
        if found[1] == "if":
            choices.append(not NEVER.match(found[2]) and not ALWAYS.match(found[2]))
        elif found[1] == "endif":
            del choices[-1:]
        if found[1] != "endif":
            levels.append((taken or bool(NEVER.match(found[2])), taken or bool(ALWAYS.match(found[2]))))
            dead += levels[-1][0]
