"""What one call of Ginkgo or GoConvey declares, by its name and what it is given."""

import json
from collections.abc import Collection, Sequence
from itertools import chain
from typing import Final, NamedTuple

from tree_sitter import Node

from testlist.languages.go.vocabulary import (
    CONVEYS,
    DECORATORS,
    EITHER,
    ENTRY,
    OWN,
    ROLES,
    SIMILAR,
    STATUS,
    SUBTREE,
    TABLE,
)
from testlist.sandbox.syntax import named, text

STRINGS: Final = frozenset({"interpreted_string_literal", "raw_string_literal"})
LITERAL: Final = "func_literal"


class Called(NamedTuple):
    """What a call declares.  titled: its title is written there; cases: entries of a table, if they show."""

    role: str
    title: str
    titled: bool
    body: Node | None
    status: str | None
    cases: int | None = None


class Names(NamedTuple):
    """What a file calls the packages, `.` for names without a package in front.  packages: all that it imports."""

    ginkgo: Sequence[str]
    goconvey: Sequence[str]
    packages: Collection[str]

    def own(self, owner: str, packages: Sequence[str]) -> bool:
        """Whether a name stands behind one of these packages."""
        return (owner or ".") in packages


def arguments(call: Node) -> list[Node]:
    """What a call is given."""
    return list(named(call.child_by_field_name("arguments")))


def name_of(call: Node) -> tuple[str, str]:
    """What stands before the last dot of what a call calls, and what stands behind it."""
    owner, _, name = text(call.child_by_field_name("function")).rpartition(".")
    return owner, name


def read_call(call: Node, names: Names) -> Called | None:
    """What a call declares; None for any other call."""
    owner, name = name_of(call)
    if name in CONVEYS and names.own(owner, names.goconvey):
        given = arguments(call)
        unwritten = "todo" if len(given) == 1 or (given and given[-1].type == "nil") else None
        return _declared(EITHER, CONVEYS[name] or unwritten, given)
    given = _unpacked(arguments(call))
    if not names.ginkgo or not given:
        return None
    found = OWN.fullmatch(name)
    if found is not None and names.own(owner, names.ginkgo):
        return _declared(ROLES[found["name"]], STATUS.get(found["prefix"]), given)
    similar = SIMILAR.fullmatch(name)
    is_like = similar is not None and title_of(given[0])[1] and given[-1].type == LITERAL
    return _declared(ROLES[similar["name"]], None, given) if similar is not None and is_like else None


def _unpacked(given: list[Node]) -> list[Node]:
    """`Describe(SIG("title", func() {…}))`: what a function of the repository makes all arguments of."""
    if len(given) == 1 and given[0].type == "call_expression":
        inner = arguments(given[0])
        if len(inner) > 1 and inner[-1].type == LITERAL:
            return inner
    return given


def _declared(role: str, status: str | None, given: list[Node]) -> Called | None:
    if not given:
        return None
    title, titled = title_of(given[0])
    words = [_last(one) for one in given[1:] if one.type in ("identifier", "selector_expression")]
    status = next((STATUS[word] for word in ("Pending", "Focus") if word in words), status)
    found = Called(role, title, titled, _body(given[1:]), status)
    return _with_entries(found, given[1:]) if role in (TABLE, SUBTREE) else found


def _body(given: Sequence[Node]) -> Node | None:
    """The function that is given, itself or within a call."""
    inner = (arguments(one) for one in given if one.type == "call_expression" and not _is_known(one))
    functions = (one for one in chain(given, chain.from_iterable(inner)) if one.type == LITERAL)
    # a table may have a function for the titles of entries, which gives one
    return min(functions, key=lambda one: one.child_by_field_name("result") is not None, default=None)


def _with_entries(found: Called, given: Sequence[Node]) -> Called:
    """A table: of entries that are all pending it is, too."""
    entries, shown = _entries(given, has_body=found.body is not None)
    if entries and "focused" in entries:
        found = found._replace(status=found.status or "focused")
    elif shown and entries and set(entries) == {"skipped"}:
        found = found._replace(status="skipped")
    return found._replace(cases=len(entries) if shown else None)


def _entries(given: Sequence[Node], *, has_body: bool) -> tuple[list[str | None], bool]:
    """Statuses of the entries that are written there, and whether these are all."""
    entries, shown = list[str | None](), True
    for one in given:
        entry = _entry(one)
        if entry is not None:
            entries.append(STATUS.get(entry) or _status_of(one))
        elif one.type == "composite_literal":
            elements = [inner for part in named(one.child_by_field_name("body")) for inner in named(part)]
            found = [(element, _entry(element)) for element in elements]
            entries += [STATUS.get(letter) or _status_of(element) for element, letter in found if letter is not None]
            shown = shown and all(letter is not None for _, letter in found)
        elif one.type in ("identifier", "selector_expression") and not has_body:
            has_body = True
        else:
            shown = shown and (one.type in (*STRINGS, LITERAL) or _is_known(one))
    return entries, shown


def _entry(node: Node) -> str | None:
    """The first letter of `FEntry(…)`, empty for `Entry(…)`; None for anything else."""
    found = ENTRY.fullmatch(name_of(node)[1]) if node.type == "call_expression" else None
    return found["prefix"] if found is not None else None


def _status_of(entry: Node) -> str | None:
    words = [_last(one) for one in arguments(entry) if one.type in ("identifier", "selector_expression")]
    return next((STATUS[word] for word in ("Pending", "Focus") if word in words), None)


def _is_known(node: Node) -> bool:
    """Whether it is a decorator."""
    return (name_of(node)[1] if node.type == "call_expression" else _last(node)) in DECORATORS


def _last(node: Node) -> str:
    return text(node).rpartition(".")[2]


def title_of(node: Node) -> tuple[str, bool]:
    """A title, and whether it is written there: a string, or several with `+` between them."""
    parts, rest = list[str](), [node]
    while rest:
        one = rest.pop()
        left, right = one.child_by_field_name("left"), one.child_by_field_name("right")
        if one.type == "binary_expression" and left is not None and right is not None:
            rest += [right, left]
        elif one.type in STRINGS:
            parts.append(_string(text(one)))
        else:
            return text(node), False
    return "".join(parts), True


def _string(raw: str) -> str:
    if raw.startswith("`") or "\\" not in raw:
        return raw[1:-1]
    try:
        return str(json.loads(raw))
    except ValueError:  # escapes that JSON does not have
        return raw[1:-1]
