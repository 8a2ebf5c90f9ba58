"""What the rows of a Ruby file depend on: classes and modules, what is mixed in and called, wherever it is written.

Examples and test methods count where they are written, so those of one file mean nothing to another.
"""

from collections.abc import Iterator, Sequence
from typing import Any

from testlist.kit.dependence import no_links
from testlist.languages.ruby.shape import Item, shape
from testlist.model import Facts


def outline(facts: Facts) -> object:
    """All that is looked through for the whole repository, without tests and the places of anything."""
    own = shape(facts)
    named = (own.get("requires", ()), own.get("uses", ()), own.get("shares", ()), own.get("calls", ()))
    return [set(names) for names in named], own.get("within", {}), list(_declared(own.get("items", ())))


def _declared(items: Sequence[Item]) -> Iterator[tuple[Any, ...]]:
    """Classes, modules and what they are built on, in their order."""
    for item in items:
        if item["k"] == "mix":
            yield ("mix", *item["names"])
        elif item["k"] in ("class", "module"):
            base = item.get("base") if item["k"] == "class" else None
            yield item["k"], item["name"], base, list(_declared(item["body"]))
        elif item["k"] in ("macro", "call") and (inner := list(_declared(item.get("body", ())))):
            yield "in", inner


#: files are found by the names of classes and modules
leads = outline
links = no_links
