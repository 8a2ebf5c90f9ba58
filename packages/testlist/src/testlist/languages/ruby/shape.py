"""The facts of a Ruby file, as they pass from the parsing child to the engine."""

from typing import Literal, NotRequired, TypedDict, cast

from testlist.kit.rows import Placed
from testlist.model import Facts


class Branch(TypedDict, total=False):
    """Where an item stands: what a loop repeats, the other branch of a condition, or under a condition at all."""

    loop: bool
    other: bool
    when: bool


class MethodItem(Branch, Placed):
    """A test method.  skip: its first statement skips it; hidden: it is private."""

    k: Literal["def"]
    name: str
    skip: NotRequired[bool]
    hidden: NotRequired[bool]


class ClassItem(Branch):
    """A class, without a name if nothing gives it one.  base: a constant, or `self` for the class around."""

    k: Literal["class"]
    name: str
    base: NotRequired[str]
    body: list["Item"]


class ModuleItem(Branch):
    """A module, or a block that is evaluated in a class, by the name of the constant that holds it."""

    k: Literal["module"]
    name: str
    body: list["Item"]


class MixItem(Branch):
    """Modules that the class around includes, or that extend it."""

    k: Literal["mix"]
    names: list[str]


class HideItem(Branch):
    """Test methods that are made private by their names."""

    k: Literal["hide"]
    names: list[str]


class MacroItem(Branch):
    """A method whose body declares examples.  own: it is the class's own."""

    k: Literal["macro"]
    name: str
    own: bool
    body: list["Item"]


class CallItem(Branch, Placed):
    """A call that declares a group or an example.  m: the method; on: its receiver; marks: metadata that is set.

    block: it was given one; handed: one that is written elsewhere; tagged: a shared group that metadata includes.
    skip: the first statement of an example skips it.  body: of a group.
    """

    k: Literal["call"]
    m: str
    title: str
    on: NotRequired[str]
    marks: NotRequired[list[str]]
    block: NotRequired[bool]
    handed: NotRequired[bool]
    tagged: NotRequired[bool]
    skip: NotRequired[bool]
    body: NotRequired[list["Item"]]


Item = MethodItem | ClassItem | ModuleItem | MixItem | HideItem | MacroItem | CallItem


class RubyFacts(TypedDict, total=False):
    """One file.  requires: what it loads; uses: constants that it calls; calls: methods that it may have from others.

    shares: names given to calls, of which some may be shared groups, an empty one for one that is computed; within:
    those that are given inside of shared groups, by the titles of these.
    """

    requires: list[str]
    uses: list[str]
    shares: list[str]
    calls: list[str]
    within: dict[str, list[str]]
    items: list[Item]


def shape(facts: Facts) -> RubyFacts:
    """Facts by their types."""
    return cast(RubyFacts, facts)
