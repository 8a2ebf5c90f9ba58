"""The arguments of Rust's macros, which the grammar leaves as tokens: read once more, as what they stand for."""

from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import named, parse, text

RUST: Final = "rust"
TREE: Final = "token_tree"


def last_of(macro: Node) -> str:
    """The last part of a macro's name."""
    return text(macro.child_by_field_name("macro")).rpartition("::")[2].strip()


def tree_of(macro: Node) -> Node | None:
    """The tokens that a macro is given."""
    return next((child for child in macro.named_children if child.type == TREE), None)


def arguments_of(tree: Node) -> list[Node]:
    """Tokens as the arguments of a call, on the lines where they stand, counted from the first.

    What insta writes as `@"…"` is read as `*"…"`.
    """
    inside = bytearray(_inside(tree))
    for child in tree.children:
        if child.type == "@":
            inside[child.start_byte - tree.start_byte - 1] = ord("*")
    call = _body_of(b"fn a(){a(" + bytes(inside) + b"\n)}")
    return list(named(call.child_by_field_name("arguments"))) if call is not None else []


def block_of(tree: Node) -> Node | None:
    """Tokens in braces as a block of statements, on the lines where they stand, counted from the first."""
    function = next(iter(parse(b"fn a()" + (tree.text or b""), RUST).named_children), None)
    return function.child_by_field_name("body") if function is not None else None


def made_by(macro: Node) -> Iterator[tuple[Node, Node]]:
    """What each rule of a definition makes, as tokens and as a block; `$name` is read as `name`."""
    for rule in macro.named_children:
        tree = rule.child_by_field_name("right") if rule.type == "macro_rule" else None
        if tree is not None:
            source = b"fn a(){" + _inside(tree).replace(b"$", b"") + b"\n}"
            function = next(iter(parse(source, RUST).named_children), None)
            block = function.child_by_field_name("body") if function is not None else None
            if block is not None:
                yield tree, block


def matched(tree: Node) -> tuple[Node | None, Node | None]:
    """A value, and the pattern that it has to match: `value, pattern if condition`."""
    parts = _parts(tree)
    if len(parts) < 2:
        return None, None
    match = _body_of(b"fn a(){match (" + parts[0] + b"\n){" + parts[1] + b"=>{}}}")
    if match is None or match.type != "match_expression":
        return None, None
    value, arms = match.child_by_field_name("value"), match.child_by_field_name("body")
    arm = next(named(arms), None)
    inner = next(named(value), None) if value is not None and value.type == "parenthesized_expression" else value
    return inner, arm.child_by_field_name("pattern") if arm is not None else None


def _inside(tree: Node) -> bytes:
    return (tree.text or b"")[1:-1]


def _body_of(source: bytes) -> Node | None:
    """The only expression of a function."""
    function = next(iter(parse(source, RUST).named_children), None)
    node = next(named(function.child_by_field_name("body")), None) if function is not None else None
    return next(named(node), None) if node is not None and node.type == "expression_statement" else node


def _parts(tree: Node) -> list[bytes]:
    """What stands between commas, and before an arrow."""
    inside, parts, begun, angles = _inside(tree), list[bytes](), 0, 0
    for child in tree.children[1:-1]:
        before = child.prev_sibling
        if child.type == "<" and (angles or (before is not None and before.type == "::")):
            angles += 1
        elif child.type == ">" and angles:
            angles -= 1
        elif child.type in (",", "=>") and not angles:
            end = child.start_byte - tree.start_byte - 1
            parts.append(inside[begun:end])
            begun = end + len(child.type)
    return [*parts, inside[begun:]] if inside[begun:].strip() else parts
