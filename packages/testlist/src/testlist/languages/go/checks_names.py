"""Names of one Go file: its imports, the names that a function gives to what it holds, and what it is called on."""

import re
from collections.abc import Iterator
from typing import Final

from tree_sitter import Node

from testlist.sandbox.syntax import named, text

#: package of tests beside the one of the folder
OUTSIDE: Final = "_test"
#: nodes that name what they declare
DECLARING: Final = frozenset({"short_var_declaration", "var_spec", "const_spec", "range_clause",
                              "parameter_declaration", "receive_statement", "type_switch_statement"})  # fmt: skip
#: of an import path, a version that its name leaves out
VERSION: Final = re.compile(r"/v\d+$")
MOST_IMPORTS: Final = 200
#: parameters that are tests
HANDLES: Final = re.compile(r"\b(\w++(?:\s*+,\s*+\w++){0,20})\s++(?:\*testing\.[TBF]|testing\.TB)\b")


def unit_of(root: Node) -> str:
    """`test` for a package of tests that stands beside the one of its folder; else nothing."""
    clause = next((child for child in named(root) if child.type == "package_clause"), None)
    return "test" if text(next(named(clause), None)).endswith(OUTSIDE) else ""


def imports_of(root: Node) -> dict[str, str]:
    """Name of a package -> its path."""
    found: dict[str, str] = {}
    for name, path in imported(root):
        if len(found) < MOST_IMPORTS:
            found[name] = path
    return found


def imported(root: Node) -> list[tuple[str, str]]:
    """Name and path of every import; a name may be a dot, several times."""
    found: list[tuple[str, str]] = []
    for spec in _specs(root):
        path = text(spec.child_by_field_name("path"))[1:-1]
        found.append((text(spec.child_by_field_name("name")) or VERSION.sub("", path).rpartition("/")[2], path))
    return found


def _specs(root: Node) -> Iterator[Node]:
    for child in named(root):
        for one in named(child) if child.type == "import_declaration" else ():
            yield from (one,) if one.type == "import_spec" else named(one)


def embedded(root: Node) -> Iterator[tuple[str, list[str]]]:
    """Structs, with the types of this package that they embed."""
    for declaration in named(root):
        for spec in named(declaration) if declaration.type == "type_declaration" else ():
            kind = spec.child_by_field_name("type")
            if kind is not None and kind.type == "struct_type":
                fields = [field for part in named(kind) for field in named(part) if field.type == "field_declaration"]
                bare = (one.child_by_field_name("type") for one in fields if one.child_by_field_name("name") is None)
                names = [text(one).lstrip("*") for one in bare]
                yield text(spec.child_by_field_name("name")), [one for one in names if one.isidentifier()][:10]


def declared(node: Node) -> Iterator[str]:
    """Names that a node gives to what stands in the function; a call of such a name means no function of a package."""
    if node.type not in DECLARING:
        return
    names = node.child_by_field_name("left") or node.child_by_field_name("alias")
    if names is not None:
        yield from (text(one) for one in named(names) if one.type == "identifier")
    yield from (text(one) for one in node.children_by_field_name("name"))


def handles_of(function: Node) -> frozenset[str]:
    """Names that a function gives to tests, also the functions in it."""
    return frozenset(name.strip() for names in HANDLES.findall(text(function)) for name in names.split(","))


def receiver_name(method: Node) -> str:
    """`s` of `func (s *Suite) …`; empty for a function."""
    parameters = method.child_by_field_name("receiver")
    return text(next((one.child_by_field_name("name") for one in named(parameters)), None))
