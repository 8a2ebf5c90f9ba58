"""The facts of a file in Java, Kotlin or Groovy, as they pass from the parsing child to the engine."""

from collections.abc import Iterable
from typing import Final, NotRequired, TypedDict, TypeVar, cast

from testlist.kit.rows import Placed
from testlist.model import Facts

#: an annotation: its dotted name, and its arguments where they matter
Mark = list[str]
#: dotted name, and the name that it gives, `*` for all of a package; in JSON a list of two
Import = tuple[str, str]


class CallFact(Placed):
    """A call in Kotlin that may build a specification, with those inside of it.

    word: what is called: empty for `"title" { }`, `-` for `"title" - { }`, `should {}` for `"title" should { }`.
    off: its configuration disables it; loop: it runs many times.
    """

    word: str
    title: str
    off: NotRequired[bool]
    loop: NotRequired[bool]
    calls: NotRequired[list["CallFact"]]


class MethodFact(Placed):
    """A method or a function.  params: how many it has; value: it returns one.  receiver: the type that it extends.

    blocks: it has labels of Spock; where: it has a table of data.
    """

    name: str
    mods: NotRequired[list[str]]
    marks: NotRequired[list[Mark]]
    params: NotRequired[int]
    value: NotRequired[bool]
    receiver: NotRequired[str]
    calls: NotRequired[list[CallFact]]
    blocks: NotRequired[bool]
    where: NotRequired[bool]


class Members(TypedDict, total=False):
    """What a class or a file holds; what is empty is left out."""

    methods: list[MethodFact]
    classes: list["ClassFact"]
    calls: list[CallFact]


class ClassFact(Members, Placed):
    """A class and the like.  k: class, interface, enum, annotation, object or companion.

    bases: all of them as they are written; super: the one that is its superclass.
    """

    k: str
    name: str
    mods: NotRequired[list[str]]
    marks: NotRequired[list[Mark]]
    super: NotRequired[str]
    bases: NotRequired[list[str]]


class JvmFacts(Members):
    """One file."""

    package: str
    imports: list[Import]


class BuildFact(TypedDict, total=False):
    """A build file.  runners: those that it speaks of; whole: these are all of its projects.

    projects: paths from its folder; of Gradle's settings every text that may be one.
    """

    runners: list[str]
    projects: list[str]
    whole: bool


Compact = TypeVar("Compact", ClassFact, MethodFact, Members)
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


def shape(facts: Facts) -> JvmFacts:
    """Facts by their types."""
    return cast(JvmFacts, facts)


def mark(name: str, arguments: str) -> Mark:
    """An annotation as facts keep it."""
    kept = arguments[:ARGUMENTS] if arguments and name.rpartition(".")[2] in READ else ""
    return [name, kept] if kept else [name]


def most(marks: list[Mark]) -> list[Mark]:
    """Annotations up to any honest number."""
    return marks[:MOST_MARKS]


def compact(item: Compact) -> Compact:
    """Leave out what is empty or false."""
    return cast(Compact, {key: value for key, value in item.items() if value or key in ("line", "name")})


def matters(method: MethodFact) -> bool:
    """Whether a method is a test, could be one, or could stand in for an inherited one."""
    mods = set(method.get("mods", ()))
    return bool(method.get("marks") or method.get("calls")) or not {"private", "static"} & mods or "public" in mods


def kept(mods: Iterable[str]) -> list[str]:
    """The modifiers that rules read, each once."""
    return sorted(MODIFIERS & set(mods))
