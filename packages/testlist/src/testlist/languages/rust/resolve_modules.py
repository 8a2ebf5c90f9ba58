"""Files that one Rust file leads to: its modules, also those inside macros, and what it includes."""

from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple

from testlist.languages.rust import facts_conditions
from testlist.languages.rust.facts_attributes import depends
from testlist.languages.rust.facts_tokens import is_name, name_of
from testlist.languages.rust.resolve_items import attribute, is_block
from testlist.languages.rust.resolve_macros import Macros
from testlist.languages.rust.shape import Attribute, CallItem, Condition, Item, Tokens
from testlist.project import folder_of, joined

#: attributes that a macro puts before all that one use gives it
Gate = Callable[[CallItem], Sequence[Attribute]]


class Lead(NamedTuple):
    """A module's name in a folder; or, if literal, a path as the source writes it.

    when: under a condition.  features: what conditions around it say of Cargo features.
    """

    folder: str
    name: str
    literal: bool = False
    when: bool = False
    features: tuple[Condition, ...] = ()


def leads(path: str, items: Sequence[Item], macros: Macros, *, is_root: bool) -> Iterator[Lead]:
    """Everything in a file that may be another.  is_root: its modules lie beside it, not below."""
    name = path.rpartition("/")[2].removesuffix(".rs")
    own = folder_of(path)
    inner = own if is_root or name == "mod" else joined(own, name)
    yield from _leads(items, own, inner, lambda item: macros.gate(path, item))


def _leads(items: Sequence[Item], own: str, inner: str, gate: Gate) -> Iterator[Lead]:
    for item in items:
        for lead in _lead(item, own, inner, gate):
            features = (item["features"], *lead.features) if "features" in item else lead.features
            yield lead._replace(when=lead.when or "when" in item, features=features)


def _lead(item: Item, own: str, inner: str, gate: Gate) -> Iterator[Lead]:
    if item["k"] == "file":
        yield Lead(inner, item["name"])
        yield from (Lead(own, one, literal=True) for one in item.get("paths", []))
        yield from (Lead(inner, one.removesuffix(".rs")) for one in item.get("paths", []))
    elif item["k"] == "mod":
        for one in item.get("paths", [item["name"]]):
            yield from _leads(item["items"], own, joined(inner, one), gate)
    elif item["k"] == "call":
        yield from _under(gate(item), _tokens(item["tokens"], inner))
        if item["name"] == "include":  # what it names lies beside the file, in whatever module it stands
            yield from (lead._replace(folder=own) for lead in _tokens(item["tokens"], inner) if lead.literal)
    elif item["k"] == "macro":
        for _, body in item["rules"]:
            # it may be used in this file, or in one beside it
            yield from (lead for folder in {own, inner} for lead in _declared(body, folder))


def _under(attributes: Sequence[Attribute], found: Iterator[Lead]) -> Iterator[Lead]:
    """What stands under attributes."""
    if not attributes:
        yield from found
        return
    condition, when = facts_conditions.of(attributes), depends(attributes)
    said = () if condition is None else (condition,)
    for lead in found:
        yield lead._replace(when=lead.when or when, features=(*said, *lead.features))


def _tokens(tokens: Tokens, inner: str) -> Iterator[Lead]:
    """Any name given to a macro may be made a module of, any literal may be a path."""
    attributes: list[Attribute] = []
    for index, piece in enumerate(tokens):
        if isinstance(piece, list):
            yield from _under(attributes, _tokens(piece[1:], inner))
            if index and tokens[index - 1] == "#":
                attributes.append(attribute(piece))
        elif is_name(piece):
            yield from _under(attributes, iter([Lead(inner, name_of(piece))]))
        elif piece.startswith('"') and len(piece) > 1:
            yield Lead(inner, piece[1:], literal=True)
        if piece == ";" or is_block(piece):
            attributes = []


def _declared(tokens: Tokens, inner: str) -> Iterator[Lead]:
    """`mod name;` in the body of a macro, and what it hands to a macro that it was given the name of."""
    for index, piece in enumerate(tokens):
        if isinstance(piece, list):
            yield from _declared(piece[1:], inner)
            if index > 2 and tokens[index - 1] == "!" and tokens[index - 3] == "$":
                yield from _tokens(piece[1:], inner)
        elif piece == "mod" and index + 1 < len(tokens) and is_name(tokens[index + 1]):
            yield Lead(inner, name_of(tokens[index + 1]))
