"""Files that one Rust file leads to: its modules, also those inside macros, and what it includes."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from tasks.inventory.project import folder_of, joined
from tasks.inventory.rust.conditions import Condition
from tasks.inventory.rust.tokens import Tokens, is_name, name_of

Item = dict[str, Any]


class Lead(NamedTuple):
    """A module's name in a folder; or, if literal, a path as the source writes it.

    when: under a condition.  features: what conditions around it say of Cargo features.
    """

    folder: str
    name: str
    literal: bool = False
    when: bool = False
    features: tuple[Condition, ...] = ()


def leads(path: str, items: Sequence[Item], *, is_root: bool) -> Iterator[Lead]:
    """Everything in a file that may be another.  is_root: its modules lie beside it, not below."""
    name = path.rpartition("/")[2].removesuffix(".rs")
    own = folder_of(path)
    inner = own if is_root or name == "mod" else joined(own, name)
    yield from _leads(items, own, inner)


def _leads(items: Sequence[Item], own: str, inner: str) -> Iterator[Lead]:
    for item in items:
        for lead in _lead(item, own, inner):
            features = (item["features"], *lead.features) if "features" in item else lead.features
            yield lead._replace(when=lead.when or "when" in item, features=features)


def _lead(item: Item, own: str, inner: str) -> Iterator[Lead]:
    kind = item["k"]
    if kind == "file":
        yield Lead(inner, item["name"])
        yield from (Lead(own, one, literal=True) for one in item.get("paths", []))
        yield from (Lead(inner, one.removesuffix(".rs")) for one in item.get("paths", []))
    elif kind == "mod":
        for one in item.get("paths", [item["name"]]):
            yield from _leads(item["items"], own, joined(inner, one))
    elif kind == "call":
        yield from _tokens(item["tokens"], inner)
        if item["name"] == "include":  # what it names lies beside the file, in whatever module it stands
            yield from (lead._replace(folder=own) for lead in _tokens(item["tokens"], inner) if lead.literal)
    elif kind == "macro":
        for _, body in item["rules"]:
            # it may be used in this file, or in one beside it
            yield from (lead for folder in {own, inner} for lead in _declared(body, folder))


def _tokens(tokens: Tokens, inner: str) -> Iterator[Lead]:
    """Any name given to a macro may be made a module of, any literal may be a path."""
    for piece in tokens:
        if isinstance(piece, list):
            yield from _tokens(piece[1:], inner)
        elif is_name(piece):
            yield Lead(inner, name_of(piece))
        elif piece.startswith('"') and len(piece) > 1:
            yield Lead(inner, piece[1:], literal=True)


def _declared(tokens: Tokens, inner: str) -> Iterator[Lead]:
    """`mod name;` in the body of a macro."""
    for index, piece in enumerate(tokens):
        if isinstance(piece, list):
            yield from _declared(piece[1:], inner)
        elif piece == "mod" and index + 1 < len(tokens) and is_name(tokens[index + 1]):
            yield Lead(inner, name_of(tokens[index + 1]))
