"""Small readings of Ruby nodes: titles, metadata, constants, and a test that skips itself at once."""

from collections.abc import Iterator
from typing import Final, Literal

from tree_sitter import Node

from testlist.languages.ruby.shape import MethodItem
from testlist.sandbox.syntax import named, text

STRINGS: Final = frozenset({"string", "chained_string", "bare_string"})
TEXTS: Final = STRINGS | {"simple_symbol", "delimited_symbol"}
#: metadata that means something to the runner
MARKS: Final = frozenset({"skip", "pending", "focus"})
#: metadata that RSpec filters by
CONDITIONS: Final = frozenset({"if", "unless"})
MODIFIERS: Final = frozenset({"if_modifier", "unless_modifier"})
OFF: Final = frozenset({"false", "nil"})
#: letters of an example without a title that stand for one
KEPT: Final = 80


def title(node: Node | None) -> str:
    """A title as written: the text of a string, a symbol without its colon, anything else as it stands."""
    if node is None:
        return ""
    if node.type == "chained_string":
        return "".join(map(title, node.named_children))
    if node.type in STRINGS:
        return "".join(text(child) for child in node.named_children)
    if node.type in ("simple_symbol", "delimited_symbol"):
        return text(node).removeprefix(":").strip("\"'")
    if node.type == "binary":
        left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
        both = left is not None and right is not None and left.type in STRINGS and right.type in STRINGS
        return title(left) + title(right) if both else text(node)
    return text(node)


def titles(given: list[Node], method: str) -> str:
    """Title of a group or an example; `describe A, "b"` has two parts."""
    parts = [
        title(one)
        for one in given
        if one.type not in ("pair", "block_argument", "simple_symbol", "hash_splat_argument")
    ]
    if not parts and given and given[0].type == "simple_symbol":
        return title(given[0])
    if "describe" in method or "context" in method:
        return " ".join(parts)
    return parts[0] if parts else ""


def anonymous(block: Node | None) -> str:
    """What stands for the title of an example without one: its own text."""
    body = block.child_by_field_name("body") if block is not None else None
    return " ".join(text(body)[: KEPT * 2].split())[:KEPT]


def beginning(node: Node) -> str:
    """A name as written, or what it begins with: of `"a" + b` and of `"a".to_sym` the string."""
    while node.type in ("binary", "call"):
        inner = node.child_by_field_name("left") or node.child_by_field_name("receiver")
        if inner is None:
            return ""
        node = inner
    return title(node) if node.type in TEXTS else ""


def is_literal(given: list[Node]) -> bool:
    """Whether the first argument is a string, a symbol or a constant that is the same in every run."""
    return bool(given) and (is_plain(given[0]) or given[0].type in ("constant", "scope_resolution"))


def passed(given: list[Node]) -> str | None:
    """`A` of `&A`."""
    last = given[-1] if given else None
    return constant(next(named(last), None)) if last is not None and last.type == "block_argument" else None


def is_plain(node: Node) -> bool:
    """Whether a string or symbol is the same in every run."""
    return node.type in ("string", "simple_symbol") and all(
        child.type != "interpolation" for child in node.named_children
    )


def marks(given: list[Node]) -> list[str]:
    """Metadata that is set: `:skip`, `skip: true`, `skip: "reason"`; `when` for `if: condition`."""
    return list(_marks(given))


def _marks(given: list[Node]) -> Iterator[str]:
    for one in given[0 if given and given[0].type == "pair" else 1 :]:
        if one.type == "simple_symbol":
            word = text(one).removeprefix(":")
        elif one.type == "pair":
            value = one.child_by_field_name("value")
            if value is None or value.type in OFF:
                continue
            word = text(one.child_by_field_name("key")).strip(":\"'")
        else:
            continue
        if word in CONDITIONS and one.type == "pair":
            yield "when"
        elif word in MARKS:
            yield word


def constant(node: Node | None) -> str | None:
    """`A::B` of a constant, a call on one such as `A[1]`; None for anything else."""
    while node is not None and node.type in ("element_reference", "call"):
        node = node.child_by_field_name("object") or node.child_by_field_name("receiver")
    if node is None or node.type not in ("constant", "scope_resolution"):
        return None
    return "".join(text(node).split()).removeprefix("::")


def base(node: Node | None) -> str | None:
    """A base class: a constant, or the class around."""
    return "self" if node is not None and node.type == "self" else constant(node)


def methods(heredoc: Node, prefix: str) -> Iterator[MethodItem]:
    """Test methods in text that a class evaluates, one a name as written."""
    for number, row in enumerate(text(heredoc).split("\n"), heredoc.start_point.row + 1):
        word, _, name = row.strip().partition(" ")
        name = name.partition("(")[0].strip()
        if word == "def" and name.startswith(prefix):
            column = row.find("def") + 1
            yield MethodItem(k="def", name=name, line=number, column=column, end=number, loop=True)


def skipping(body: Node | None) -> Literal["skip", "when"] | None:
    """What the first statement does: `skip`, or `when` for `skip if condition`."""
    first = next(named(body), None)
    if first is not None and first.type in MODIFIERS:
        return "when" if skips(first.child_by_field_name("body")) else None
    return "skip" if skips(first) else None


def skips(first: Node | None) -> bool:
    """Whether a statement is `skip`."""
    if first is None or first.type not in ("identifier", "call"):
        return False
    if first.type == "identifier":
        return text(first) == "skip"
    receiver, block = first.child_by_field_name("receiver"), first.child_by_field_name("block")
    return text(first.child_by_field_name("method")) == "skip" and receiver is None and block is None
