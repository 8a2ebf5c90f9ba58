"""The facts of a Rust file, as they pass from the parsing child to the engine."""

from typing import Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from testlist.model import Facts

#: text inside macros, and arguments of attributes: strings, and lists for groups (see facts_tokens)
Token: TypeAlias = str | list["Token"]
Tokens = list[Token]
#: what a `cfg` says of Cargo features and compiler flags (see facts_conditions)
Condition = list[Any] | None
#: path and arguments; in JSON a list of two
Attribute = tuple[str, Tokens]


class Built(TypedDict, total=False):
    """Under which conditions something is built.  when: a condition decides; never: none lets it be built.

    features: what they say of Cargo features and compiler flags.
    """

    when: bool
    never: bool
    features: Condition


class Place(TypedDict):
    """Where something stands: 1-based."""

    line: int
    column: int
    end: int


class Named(Place):
    """Where the name of something stands, and where all of it ends."""

    name: str


class FunctionItem(Named, Built):
    """A function with attributes."""

    k: Literal["fn"]
    attrs: list[Attribute]


class Module(Built):
    """A module.  paths: of `#[path]`."""

    name: str
    paths: NotRequired[list[str]]


class ModuleItem(Module):
    """An inline module."""

    k: Literal["mod"]
    items: list["Item"]


class FileItem(Module):
    """`mod name;`, whose items are in a file."""

    k: Literal["file"]


class MacroItem(Named, Built):
    """A macro_rules definition.  rules: pattern and body of each; cfg: one of several, for a condition."""

    k: Literal["macro"]
    rules: list[list[Tokens]]
    cfg: NotRequired[bool]


class CallItem(Named, Built):
    """A macro that is used where items stand."""

    k: Literal["call"]
    tokens: Tokens


class UseItem(Built):
    """`use path::of as name`, of a name that is bound to `test`.  public: it is handed on."""

    k: Literal["use"]
    path: str
    of: str
    name: str
    public: NotRequired[bool]


class ExternItem(Built):
    """A crate whose macros are taken into the crate at hand.  only: those that are listed."""

    k: Literal["extern"]
    name: str
    only: NotRequired[list[str]]


Item = FunctionItem | ModuleItem | FileItem | MacroItem | CallItem | UseItem | ExternItem


class RustFacts(Built, total=False):
    """One file.  flags: those that it gives the compiler as a build script, `*` for one that it computes."""

    items: list[Item]
    flags: list[str]


def shape(facts: Facts) -> RustFacts:
    """Facts by their types."""
    return cast(RustFacts, facts)
