"""Literals as values: strings, templates, and what stands where a title is computed."""

import re
from collections.abc import Iterator
from typing import Any, Final

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

ESCAPES: Final = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
#: characters of a computed title kept for show
SHOWN: Final = 200
#: names of the folder that a file lies in
HERE: Final = frozenset({"__dirname", "import.meta.dirname"})


def title_of(node: Node) -> str:
    """A title as a runner prints it; for a computed one its source."""
    value = string_of(node)
    return value if value is not None else " ".join(text(node).split())[:SHOWN]


def string_of(node: Node | None) -> str | None:
    """Value of a string, of a template as written, or of a sum of both; None for anything else."""
    if node is None:
        return None
    if node.type == "string":
        raw = text(node)
        if "\\" not in raw and len(raw) > 1 and raw[0] == raw[-1]:
            return raw[1:-1]
        return "".join(map(_piece, node.named_children))
    if node.type == "template_string":
        return text(node)[1:-1]
    if node.type == "binary_expression" and text(node.child_by_field_name("operator")) == "+":
        left, right = (string_of(node.child_by_field_name(side)) for side in ("left", "right"))
        return left + right if left is not None and right is not None else None
    return None


def _piece(node: Node) -> str:
    raw = text(node)
    if node.type != "escape_sequence":
        return raw
    if found := re.fullmatch(r"\\(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})", raw):
        code = int(found[1] or found[2] or found[3], 16)
        # a half is put together with the other one, or replaced, when the facts are written (plain_texts.py)
        return chr(code) if code < 0x110000 else "\ufffd"
    return "" if raw[1:] in ("\n", "\r\n") else ESCAPES.get(raw[1:], raw[1:])


def value_of(node: Node | None, variables: dict[str, Node], steps: int = 20) -> Any:  # noqa: PLR0911 - one a node kind
    """An expression as JSON: objects, lists, strings, numbers, booleans; None for what is computed.

    variables: top-level names and what they were given, looked up where a name stands.
    """
    if node is None or steps <= 0:
        return None
    kind = node.type
    if kind == "object":
        return dict(_pairs(node, variables, steps))
    if kind == "array":
        return list(_elements(node, variables, steps))
    if kind in ("true", "false"):
        return kind == "true"
    if kind == "regex":
        return {"regex": text(node.child_by_field_name("pattern"))}
    if kind == "identifier":
        return value_of(variables.get(text(node)), variables, steps - 1)
    if kind in ("as_expression", "satisfies_expression", "parenthesized_expression", "non_null_expression"):
        return value_of(next(named(node), None), variables, steps - 1)
    if kind == "call_expression":
        return _joined_path(node)
    return _filled(node, variables, steps) if kind == "template_string" else string_of(node)


def _filled(node: Node, variables: dict[str, Node], steps: int) -> str | None:
    """A template with what is put into it; the folder of the file itself is no part of a path."""
    parts: list[str] = []
    for child in named(node):
        if child.type != "template_substitution":
            parts.append(_piece(child))
            continue
        inner = next(named(child), None)
        value = "." if text(inner) in HERE else value_of(inner, variables, steps - 1)
        if not isinstance(value, str):
            return None
        parts.append(value)
    return "".join(parts)


def _elements(node: Node, variables: dict[str, Node], steps: int) -> Iterator[Any]:
    for child in named(node):
        if child.type != "spread_element":
            yield value_of(child, variables, steps - 1)
        else:
            spread = value_of(next(named(child), None), variables, steps - 1)
            # nobody knows what else there is, and readers of such a list may have to
            yield from spread if isinstance(spread, list) else [None]


def _pairs(node: Node, variables: dict[str, Node], steps: int) -> list[tuple[str, Any]]:
    found: list[tuple[str, Any]] = []
    for child in named(node):
        if child.type == "pair":
            key = child.child_by_field_name("key")
            found.append(
                (string_of(key) or text(key), value_of(child.child_by_field_name("value"), variables, steps - 1))
            )
        elif child.type == "shorthand_property_identifier":
            found.append((text(child), value_of(variables.get(text(child)), variables, steps - 1)))
        elif child.type == "spread_element":
            spread = value_of(next(named(child), None), variables, steps - 1)
            found += spread.items() if isinstance(spread, dict) else []
    return found


def _joined_path(node: Node) -> str | None:
    """`path.resolve(__dirname, "a", "b")` is "a/b"."""
    called = text(node.child_by_field_name("function")).rpartition(".")[2]
    if called not in ("resolve", "join", "fileURLToPath"):
        return None
    parts = [string_of(child) for child in named(node.child_by_field_name("arguments"))]
    known = [part for part in parts if part is not None]
    return "/".join(known) if known else None


def required(node: Node) -> str | None:
    """Module of `require("module")` or `import("module")`."""
    function = node.child_by_field_name("function") if node.type == "call_expression" else None
    if function is None or (
        function.type != "import" and (function.type != "identifier" or text(function) != "require")
    ):
        return None
    return string_of(next(named(node.child_by_field_name("arguments")), None))
