"""Rows of RSpec: examples of groups, those of shared groups where these are used."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from testlist.kit.rows import row
from testlist.languages.ruby.shape import CallItem, Item, RubyFacts
from testlist.languages.ruby.vocabulary import DESCRIBES, GROUPS, PREFIXED, RSPEC_EXAMPLES, SHARED
from testlist.model import Test

#: receivers on which groups and examples are its own
ON: Final = frozenset({"", "RSpec", "::RSpec", "self"})
#: what metadata and the names of examples say of the status, strongest first
SAID: Final = (("skip", "skipped"), ("pending", "xfail"), ("focus", "focused"))


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds an example.  declares: examples may stand here."""

    suites: tuple[str, ...] = ()
    status: str = "active"
    dynamic: bool = False
    declares: bool = False
    shared_only: bool = False
    in_module: bool = False
    in_method: bool = False
    depends: bool = False  # a condition decides
    used: frozenset[str] = frozenset()  # names of shared groups that are included; an empty one stands for any
    near: frozenset[str] = frozenset()  # those that are included where a group of this file is known


def included(files: Iterable[RubyFacts]) -> frozenset[str]:
    """Names of shared groups that are used, directly or in another one that is."""
    used: set[str] = set()
    inner: dict[str, set[str]] = {}
    for one in files:
        used.update(one.get("shares", ()))
        for title, names in one.get("within", {}).items():
            inner.setdefault(title, set()).update(names)
    todo = list(inner) if "" in used else list(used)
    while todo:
        found = inner.pop(todo.pop(), set()) - used
        used |= found
        todo += inner if "" in found else found
    return frozenset(used)


def rows(path: str, items: Sequence[Item], around: Around) -> Iterator[Test]:
    """Examples among items."""
    for item in items:
        inner = replace(around, dynamic=around.dynamic or "loop" in item, depends=around.depends or "when" in item)
        if item["k"] == "module":
            yield from rows(path, item["body"], replace(inner, in_module=True))
        elif item["k"] == "class":
            yield from rows(path, item["body"], replace(inner, declares=False, in_module=False))
        elif item["k"] == "macro" and (item["own"] or around.in_module):
            yield from rows(
                path, item["body"], replace(inner, declares=True, dynamic=True, shared_only=False, in_method=True)
            )
        elif item["k"] == "call" and item.get("on", "") in ON:
            yield from called(path, item, inner)


def called(path: str, item: CallItem, around: Around) -> Iterator[Test]:
    """Examples of a group, or one example."""
    method = item["m"]
    if method in GROUPS:
        # one in another group is known there alone: what other files include by a computed name is none of it
        used = around.near if around.suites else around.used
        unused = method in SHARED and "tagged" not in item and used.isdisjoint(("", item["title"]))
        if unused or (around.shared_only and method not in SHARED):
            return
        inner = replace(around, suites=(*around.suites, item["title"]), status=status_of(item) or around.status)
        yield from rows(path, item["body"], replace(inner, declares=True, shared_only=False, in_module=False))
    elif method in RSPEC_EXAMPLES and around.declares and not (around.in_method and is_word(item)):
        status = status_of(item) or around.status
        if "block" not in item and status_of(item) != "skipped":  # nothing that could fail or be in focus
            status = "todo"
        yield row(
            "rspec",
            path,
            around.suites,
            item["title"],
            item,
            status=status,
            dynamic=around.dynamic,
            depends=around.depends,
        )


def is_word(item: CallItem) -> bool:
    """Whether `skip "reason"` or `pending "reason"` speaks to the example that is running."""
    return item["m"] in ("skip", "pending") and "block" not in item


def status_of(item: CallItem) -> str | None:
    """What a group or an example says of itself; None for nothing."""
    method = item["m"]
    said = {method, *item.get("marks", [])}
    found = next((status for word, status in SAID if word in said), None)
    if found is None and method[0] in PREFIXED and (method[1:] in DESCRIBES or method in RSPEC_EXAMPLES - {"feature"}):
        return PREFIXED[method[0]] if method[1:] in DESCRIBES | RSPEC_EXAMPLES else None
    return found
