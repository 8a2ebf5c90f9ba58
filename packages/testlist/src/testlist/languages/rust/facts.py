"""Facts of one Rust file: what may be a test, the modules around it, macros and their uses."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.languages.rust import facts_conditions, facts_tokens
from testlist.languages.rust.facts_attributes import depends
from testlist.languages.rust.facts_imports import extern, used
from testlist.languages.rust.shape import (
    Attribute,
    Built,
    CallItem,
    FileItem,
    Item,
    MacroItem,
    Module,
    ModuleItem,
    Named,
    RustFacts,
)
from testlist.languages.rust.strip import stripped
from testlist.model import Facts
from testlist.sandbox.syntax import column, end_line, line, parse, text

#: what a file must hold to matter at all; macros at the margin may be those of another file
MARKER: Final = re.compile(
    rb"test|bench|macro_rules|proc_macro_attribute|^\w+(?:::\w+)*!|\bmod\s|include!", re.MULTILINE
)
#: what build scripts print to give a flag, and libraries that print it for them
FLAG: Final = re.compile(rb"rustc-cfg=(\w*)(\{?)")
PROBE: Final = re.compile(rb"\bemit(?:\w{1,16}_cfg\([^,]{0,160},\s{0,80}|\()\"(\w{1,80})\"")
COMPUTED: Final = re.compile(rb"\bcfg_aliases\b|rustc-cfg[^=]")
#: attributes that never make a test
PLAIN: Final = frozenset(
    {"allow", "deny", "warn", "expect", "forbid", "cfg", "doc", "inline", "cold", "must_use", "derive", "deprecated",
     "no_mangle", "target_feature", "track_caller", "non_exhaustive", "repr", "link_section", "automatically_derived"}
)  # fmt: skip
#: macros of the language and its library that declare no items
KNOWN: Final = frozenset({"println", "thread_local", "compile_error", "concat", "assert", "global_asm", "bitflags"})
#: depth of inline modules that is followed
DEPTH: Final = 48
COMMENTS: Final = frozenset({"line_comment", "block_comment"})


def extract(source: bytes, language: str) -> Facts:
    """Read one file: {"items": [...]}."""
    facts: RustFacts = {"items": [], "flags": _flags(source)}
    if MARKER.search(source):
        root = parse(stripped(source), language)
        inner = [_attribute(node) for node in root.named_children if node.type == "inner_attribute_item"]
        facts = {"items": list(_items(root, 0)), "flags": facts["flags"], **_conditions(inner)}
    return {key: value for key, value in facts.items() if value or key == "items"}


def _flags(source: bytes) -> list[str]:
    """Flags that a build script gives, `*` for one that it computes."""
    found = {name.decode() if name and not computed else "*" for name, computed in FLAG.findall(source)}
    if COMPUTED.search(source):
        found.add("*")
    if b"autocfg" in source:
        found |= {name.decode() for name in PROBE.findall(source)}
    return sorted(found)


def _items(block: Node, depth: int, outer: list[Attribute] | None = None) -> Iterator[Item]:
    """Items of a file or an inline module, with the attributes that stand before them.  outer: before them all."""
    attributes: list[Attribute] = list(outer or ())
    for node in block.named_children:
        if node.type == "attribute_item":
            attributes.append(_attribute(node))
        elif node.type not in COMMENTS:
            yield from _item(node, attributes, depth)
            attributes = []


def _item(node: Node, attributes: list[Attribute], depth: int) -> Iterator[Item]:
    if node.type == "function_item":
        if telling := [one for one in attributes if one[0] not in PLAIN]:
            yield {"k": "fn", **_place(node), "attrs": telling + _cases(node), **_conditions(attributes)}
    elif node.type == "mod_item":
        yield from _module(node, attributes, depth)
    elif node.type == "macro_definition":
        yield from _macro(node, attributes)
    elif node.type == "use_declaration":
        yield from used(node)
    elif node.type == "extern_crate_declaration":
        yield from extern(node, attributes)
    elif node.type == "macro_invocation":
        yield from _call(node, attributes)
    elif node.type in ("expression_statement", "ERROR") and depth < DEPTH:
        yield from _items(node, depth + 1, attributes if node.type == "expression_statement" else None)


def _place(node: Node) -> Named:
    name = node.child_by_field_name("name") or node
    return {"name": text(name).removeprefix("r#"), "line": line(name), "column": column(name), "end": end_line(node)}


def _attribute(node: Node) -> Attribute:
    """`#[a::b(c)]` as path and tokens."""
    inner = next((child for child in node.named_children if child.type == "attribute"), None)
    if inner is None or inner.named_child(0) is None:
        return "", []
    path = "".join(text(inner.named_child(0)).split())
    given = inner.child_by_field_name("arguments") or inner.child_by_field_name("value")
    return path, facts_tokens.read(text(given), line(inner), places=False) if given is not None else []


def _cases(node: Node) -> list[Attribute]:
    """Attributes of parameters: rstest's `#[values]` and `#[files]` make cases."""
    parameters = node.child_by_field_name("parameters")
    found = [child for child in parameters.named_children if child.type == "attribute_item"] if parameters else []
    return [(f"parameter::{one[0]}", []) for one in map(_attribute, found) if one[0] in ("values", "files")]


def _conditions(attributes: list[Attribute]) -> Built:
    """What `#[cfg]` says; `any()` is how Rust spells `never`."""
    if any(one == ("cfg", [["(", "any", ["("]]]) for one in attributes):
        return {"never": True}
    condition = facts_conditions.of(attributes)
    said: Built = {"features": condition} if condition is not None else {}
    return {"when": True, **said} if depends(attributes) else said


def _module(node: Node, attributes: list[Attribute], depth: int) -> Iterator[ModuleItem | FileItem]:
    body = node.child_by_field_name("body")
    name = text(node.child_by_field_name("name")).removeprefix("r#")
    module: Module = {"name": name, "paths": _paths(attributes), **_conditions(attributes)}
    if not module["paths"]:
        del module["paths"]
    if body is None:
        yield {"k": "file", **module}
    elif depth < DEPTH and (items := list(_items(body, depth + 1))):
        yield {"k": "mod", **module, "items": items}


def _paths(attributes: list[Attribute]) -> list[str]:
    """Literals of `#[path = "..."]`, also inside cfg_attr."""
    found = []
    for name, given in attributes:
        flat = given[0][1:] if name == "cfg_attr" and given and isinstance(given[0], list) else given
        if name == "path" or "path" in flat:
            found += [one[1:] for one in flat if isinstance(one, str) and one.startswith('"') and len(one) > 1]
    return found


def _macro(node: Node, attributes: list[Attribute]) -> Iterator[MacroItem]:
    """A definition, if what it makes may hold a test: it says so, or uses another macro."""
    rules = [
        [
            facts_tokens.read(text(rule.child_by_field_name("left")), 0, places=False),
            facts_tokens.read(text(rule.child_by_field_name("right")), 0, places=False),
        ]
        for rule in node.named_children
        if rule.type == "macro_rule"
    ]
    body = text(node)
    if "test" in body or "bench" in body or "!" in body or ("fn" in body and "$" in body):
        place = _place(node)
        item: MacroItem = {
            "k": "macro",
            "name": place["name"],
            "line": place["line"],
            "column": place["column"],
            "end": place["end"],
            "rules": rules,
        }
        if any(one[0] == "cfg" for one in attributes):
            item["cfg"] = True
        yield item


def _call(node: Node, attributes: list[Attribute]) -> Iterator[CallItem]:
    name = "".join(text(node.child_by_field_name("macro")).split()).rpartition("::")[2]
    given = next((child for child in node.named_children if child.type == "token_tree"), None)
    if name not in KNOWN and given is not None:
        group = facts_tokens.read(text(given), line(given), column(given), places=True)
        yield {
            "k": "call",
            "name": name,
            "line": line(node),
            "column": column(node),
            "end": end_line(node),
            "tokens": [token for one in group[:1] for token in one[1:]],
            **_conditions(attributes),
        }
