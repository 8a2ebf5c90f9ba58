"""Macro definitions of a repository: which one a name stands for, and which make tests."""

from bisect import bisect_left, insort
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Final

from testlist.languages.rust.facts_attributes import is_test
from testlist.languages.rust.facts_tokens import is_name, name_of
from testlist.languages.rust.resolve_items import attribute
from testlist.languages.rust.shape import Attribute, CallItem, Item, MacroItem, RustFacts, Tokens

#: definitions of one name that are compared; more say nothing
RIVALS: Final = 64
#: tokens of `$(...)*` and its kin, at most
LOOP: Final = 4


@dataclass
class Macros:
    """All definitions, in order of path and line."""

    by_name: dict[str, list[tuple[str, MacroItem]]] = field(default_factory=dict)
    by_file: dict[tuple[str, str], list[MacroItem]] = field(default_factory=dict)
    chosen: dict[tuple[str, str], MacroItem] = field(default_factory=dict)

    @classmethod
    def of(cls, facts: Mapping[str, RustFacts]) -> "Macros":
        """Collect definitions from files read."""
        macros = cls()
        for path in sorted(facts):
            for item in definitions(facts[path].get("items", [])):
                macros.by_name.setdefault(item["name"], []).append((path, item))
                macros.by_file.setdefault((path, item["name"]), []).append(item)
        return macros

    def find(self, path: str, name: str, line: int) -> MacroItem | None:
        """The definition a use in a file means: the last one above it, else the nearest in the repository."""
        if here := self.by_file.get((path, name)):
            above = bisect_left(here, line, key=lambda item: item["line"])
            last = here[above - 1] if above else here[-1]
            return fullest(here[-RIVALS:]) if last.get("cfg") else last
        if name not in self.by_name:
            return None
        if (path, name) not in self.chosen:
            rivals = self.by_name[name][:RIVALS]
            nearest = max(rivals, key=lambda one: _closeness(path, one[0]))[0]
            self.chosen[path, name] = fullest([item for where, item in rivals if where == nearest])
        return self.chosen[path, name]

    def add(self, path: str, item: MacroItem) -> None:
        """Add a definition that another macro makes in a file."""
        insort(self.by_file.setdefault((path, item["name"]), []), item, key=lambda one: one["line"])

    def gate(self, path: str, item: CallItem) -> list[Attribute]:
        """Attributes that a macro puts before all it is given, at one of its uses."""
        found = self.find(path, item["name"], item["line"])
        return gate(found["rules"]) if found is not None else []

    @cached_property
    def making(self) -> set[str]:
        """Names of macros that leave a test behind, themselves or through other macros."""
        users: dict[str, set[str]] = {}
        todo: list[str] = []
        for name, known in self.by_name.items():
            for word in {word for _, item in known for _, body in item["rules"] for word in _signs(body)}:
                if word == "#":
                    todo.append(name)
                else:
                    users.setdefault(word, set()).add(name)
        found: set[str] = set()
        while todo:
            name = todo.pop()
            if name not in found:
                found.add(name)
                todo += users.get(name, ())
        return found


def _signs(tokens: Tokens) -> Iterator[str]:
    """`#` for an attribute that makes a test, and the name of every macro used."""
    for index, piece in enumerate(tokens):
        if isinstance(piece, list):
            marked = index and tokens[index - 1] == "#" and piece[0] == "["
            if marked and any(is_test(name_of(one), ()) for one in piece[1:]):
                yield "#"
            yield from _signs(piece[1:])
        elif piece == "!" and index and is_name(tokens[index - 1]):
            yield name_of(tokens[index - 1])


def definitions(items: list[Item]) -> Iterator[MacroItem]:
    """Macros of a file, also those in inline modules."""
    for item in items:
        if item["k"] == "macro":
            yield item
        elif item["k"] == "mod":
            yield from definitions(item["items"])


def gate(rules: Sequence[Sequence[Tokens]]) -> list[Attribute]:
    """Attributes in a body that holds nothing but them and what the macro was given."""
    body = rules[0][1] if len(rules) == 1 and len(rules[0]) > 1 else []
    while body and isinstance(group := body[min(body[0] == "$", len(body) - 1)], list) and len(body) <= LOOP:
        body = group[1:]
    attributes = []
    while len(body) > LOOP - 1 and body[0] == "#" and isinstance(body[1], list):
        attributes.append(attribute(body[1]))
        body = body[2:]
    return attributes if len(body) <= LOOP and body[:1] == ["$"] else []


def fullest(rivals: Sequence[MacroItem]) -> MacroItem:
    """The definition that does most: of those for several platforms, some do nothing."""
    return max(rivals, key=lambda item: sum(_size(part) for rule in item["rules"] for part in rule))


def _size(tokens: Tokens) -> int:
    return sum(_size(piece) if isinstance(piece, list) else 1 for piece in tokens)


def _closeness(path: str, other: str) -> int:
    """Folders two files share."""
    count = 0
    for one, two in zip(path.split("/")[:-1], other.split("/")[:-1], strict=False):
        if one != two:
            break
        count += 1
    return count
