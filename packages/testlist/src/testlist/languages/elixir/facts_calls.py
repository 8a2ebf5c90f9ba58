"""Parts of calls in Elixir: names, arguments, blocks, and the texts that are titles."""

import re
from collections.abc import Iterator
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

ESCAPE: Final = re.compile(r"\\(?:u\{?([0-9A-Fa-f]{1,6})\}?|x([0-9A-Fa-f]{1,2})|(.))", re.DOTALL)
LETTERS: Final = {"n": "\n", "t": "\t", "r": "\r", "s": " ", "0": "\0", "e": "\x1b"}
TEXTS: Final = frozenset({"quoted_content", "escape_sequence", "interpolation"})
#: texts that are put together to a title, and letters of one that is computed
STEPS: Final = 20
LONGEST: Final = 300
ATOMS: Final = frozenset({"atom", "quoted_atom"})


class Title(NamedTuple):
    """The title of a test or a group.  known: it is a text without computed parts; open: nothing of it is written."""

    text: str
    known: bool
    open: bool = False


def called(node: Node) -> str:
    """What a call calls: `test`, `Enum.each`."""
    target = node.child_by_field_name("target")
    return text(target) if target is not None and target.type in ("identifier", "dot") else ""


def arguments(node: Node) -> list[Node]:
    """What stands between the name of a call and its block."""
    found = next((child for child in node.named_children if child.type == "arguments"), None)
    return list(named(found))


def block(node: Node) -> Node | None:
    """What stands between `do` and `end`, or behind `do:`."""
    found = next((child for child in node.named_children if child.type == "do_block"), None)
    return found if found is not None else option(node, "do")


def option(node: Node, name: str) -> Node | None:
    """The value of a keyword among the arguments of a call."""
    return next((value for word, value in pairs(arguments(node)) if word == name), None)


def pairs(nodes: list[Node]) -> Iterator[tuple[str, Node]]:
    """Keywords with their values, in brackets or without."""
    for node in nodes:
        if node.type == "keywords":
            for pair in named(node):
                key, value = pair.child_by_field_name("key"), pair.child_by_field_name("value")
                if key is not None and value is not None:
                    yield text(key).strip().rstrip(":").strip('"'), value
        elif node.type == "list":
            yield from pairs([one for one in named(node) if one.type == "keywords"])


def title(node: Node, steps: int = STEPS) -> Title:
    """The title a node stands for; the source of one that is computed."""
    if node.type == "string" or (node.type == "sigil" and text(node)[:2] in ("~s", "~S")):
        parts = [part for part in node.named_children if part.type in TEXTS]
        known = all(part.type != "interpolation" for part in parts)
        said = "".join(unescaped(text(part)) if part.type == "escape_sequence" else text(part) for part in parts)
        return Title(said.strip() if text(node).startswith('"""') else said, known)
    if node.type in ATOMS:
        return Title(text(node)[1:].strip('"'), known=True)
    if steps and node.type == "binary_operator" and text(node.child_by_field_name("operator")) == "<>":
        sides = [title(side, steps - 1) for side in named(node)]
        if all(side.known for side in sides):
            return Title("".join(side.text for side in sides), known=True)
    return Title(text(node)[:LONGEST], known=False, open=True)


def unescaped(sequence: str) -> str:
    """The character an escape stands for."""
    found = ESCAPE.fullmatch(sequence)
    if found is None:
        return sequence
    if (digits := found[1] or found[2]) is not None:
        code = int(digits, 16)
        return chr(code) if code < 0xD800 or 0xDFFF < code < 0x110000 else "\ufffd"
    return LETTERS.get(found[3], found[3])


def listed(node: Node) -> int | None:
    """How many elements a list has, if they are written down."""
    if node.type == "list":
        inner = list(named(node))
        if any(one.type == "binary_operator" and "|" in text(one.child_by_field_name("operator")) for one in inner):
            return None
        return sum(len(list(named(one))) if one.type == "keywords" else 1 for one in inner)
    if node.type == "sigil" and text(node)[:2] in ("~w", "~W") and "#{" not in text(node):
        return len(text(next(named_content(node), None)).split())
    return None


def named_content(node: Node) -> Iterator[Node]:
    """The text of a sigil."""
    return (part for part in node.named_children if part.type == "quoted_content")
