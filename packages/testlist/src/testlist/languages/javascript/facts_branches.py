"""Where a condition decides whether what stands in a file is reached: branches, guards, and ways out above it."""

from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import text

BRANCHES: Final = frozenset({"if_statement", "ternary_expression", "switch_case", "switch_default"})
#: what sources ask for that hold tests of vitest themselves: it is there whenever these run
IN_SOURCE: Final = b"import.meta.vitest"
#: nodes whose statements follow each other
BLOCKS: Final = frozenset({"program", "statement_block"})
#: bytes of a statement that is looked at
SHORT: Final = 200
#: the end of a run where it is called
EXITS: Final = ("process.exit(", "Deno.exit(")
#: a node, whether a loop repeats it, and whether a condition decides
Step = tuple[Node, bool, bool]


def decides(node: Node, kind: str) -> bool:
    """Whether what stands in a node is reached under a condition only."""
    return (kind in BRANCHES and not in_source(node)) or (kind == "binary_expression" and is_guard(node))


def follow(node: Node, stack: list[Step]) -> None:
    """Let what stands behind an `if` depend on it, if it is a way out.

    stack: what is still to be read, the next one last.
    """
    around = node.parent if leaves(node) else None
    if around is None or around.type not in BLOCKS:
        return
    for place in range(len(stack) - 1, -1, -1):
        later, loop, _ = stack[place]
        if later.start_byte >= around.end_byte:
            return
        stack[place] = (later, loop, True)


def leaves(node: Node) -> bool:
    """Whether an `if` without an `else` ends what it stands in."""
    last = node.child_by_field_name("consequence")
    if last is None or node.child_by_field_name("alternative") is not None:
        return False
    if last.type == "statement_block":
        last = next((one for one in reversed(last.named_children) if one.type != "comment"), last)
    if last.type == "return_statement":
        return not in_source(node)
    short = last.end_byte - last.start_byte < SHORT
    return short and last.type == "expression_statement" and text(last).startswith(EXITS)


def in_source(node: Node) -> bool:
    """Whether a branch is the one for tests in a source."""
    condition = node.child_by_field_name("condition") if node.type == "if_statement" else None
    return condition is not None and IN_SOURCE in (condition.text or b"")[:100]


def is_guard(node: Node) -> bool:
    """Whether a binary expression is `condition && call()` or the like."""
    operator = node.child_by_field_name("operator")
    return operator is not None and operator.type in ("&&", "||")
