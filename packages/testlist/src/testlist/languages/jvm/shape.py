"""The shape in which the readers of the three languages keep classes and methods.

A class is {"k", "name", "line", "column", "end", "mods", "marks", "super", "bases", "methods", "classes"}, a method
{"name", "line", "column", "end", "mods", "marks", "params", "value"}; empty entries are left out.
"""

from collections.abc import Iterable
from typing import Any, Final

Item = dict[str, Any]
#: deeper nesting of classes is no program's
DEEPEST: Final = 16
MOST_MARKS: Final = 64
#: arguments of an annotation are kept up to this length, of those whose arguments some rule reads
ARGUMENTS: Final = 160
READ: Final = frozenset({"Test", "RunWith", "TestMethodProviders", "EnumSource"})
MODIFIERS: Final = frozenset(
    {"abstract", "annotation", "companion", "default", "enum", "expect", "inner", "private", "protected", "public",
     "sealed", "static"}
)  # fmt: skip


def mark(name: str, arguments: str) -> list[str]:
    """An annotation as facts keep it: its dotted name, and its arguments where they matter."""
    kept = arguments[:ARGUMENTS] if arguments and name.rpartition(".")[2] in READ else ""
    return [name, kept] if kept else [name]


def compact(item: Item) -> Item:
    """Leave out what is empty or false, and annotations beyond any honest number."""
    if len(item.get("marks", ())) > MOST_MARKS:
        item["marks"] = item["marks"][:MOST_MARKS]
    return {key: value for key, value in item.items() if value or key in ("line", "name")}


def matters(method: Item) -> bool:
    """Whether a method is a test, could be one, or could stand in for an inherited one."""
    mods = set(method.get("mods", ()))
    return bool(method.get("marks") or method.get("calls")) or not {"private", "static"} & mods or "public" in mods


def kept(mods: Iterable[str]) -> list[str]:
    """The modifiers that rules read, each once."""
    return sorted(MODIFIERS & set(mods))
