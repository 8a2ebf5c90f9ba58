"""Where things stand in a Scala file."""

from tree_sitter import Node

from testlist.kit.rows import Placed
from testlist.sandbox.syntax import column, line


def place(node: Node) -> Placed:
    """From its first sign to its last: an indented block ends with what stands behind it."""
    raw = node.text or b""
    return {"line": line(node), "column": column(node), "end": line(node) + raw.rstrip().count(b"\n")}
