"""Examples of acceptance specifications of specs2: lines of a text that end with what is run for them."""

from typing import Final

from tree_sitter import Node

from testlist.languages.scala.shape import CallFact
from testlist.languages.scala.vocabulary import NO_EXAMPLES
from testlist.sandbox.syntax import column, end_line, line, text

WORD: Final = "s2"
LONGEST: Final = 300
TEXTS: Final = frozenset({"string", "interpolated_string_expression", "integer_literal"})


def examples(node: Node) -> list[CallFact]:
    """`s2"adds ${adds}"`: one for each line."""
    inner = next((child for child in node.named_children if child.type == "interpolated_string"), None)
    interpolator = node.child_by_field_name("interpolator")
    if inner is None or text(interpolator) != WORD:
        return []
    raw = inner.text or b""
    found: list[CallFact] = []
    done = len(raw) - len(raw.lstrip(b'"'))
    for one in inner.named_children:
        if one.type != "interpolation":
            continue
        start, end = one.start_byte - inner.start_byte, one.end_byte - inner.start_byte
        heading = raw[max(done, start - LONGEST) : start].rpartition(b"\n")[2].strip().decode("utf-8", "replace")
        rest = raw[end : end + LONGEST].partition(b"\n")[0].strip(b' \t\r"')
        if heading and not rest and is_run(one):
            done = end
            found.append(
                {"line": line(one), "column": column(one), "end": end_line(one), "word": WORD, "title": heading}
            )
    return found


def is_run(node: Node) -> bool:
    """Whether what is put into a text may be the body of an example."""
    for _ in range(3):
        if node.type not in ("interpolation", "block") or node.named_child_count != 1:
            break
        node = node.named_children[0]
    if node.type in TEXTS:
        return False
    callee = node
    while callee.type in ("call_expression", "generic_function"):
        further = callee.child_by_field_name("function")
        if further is None:
            break
        callee = further
    return text(callee)[:LONGEST] not in NO_EXAMPLES
