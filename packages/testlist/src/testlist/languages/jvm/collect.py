"""What a run would take from the classes of a repository, each test at its own definition."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, Literal, NamedTuple

from testlist.kit import rows
from testlist.kit.rows import Placed
from testlist.languages.jvm import resolve_annotations as annotations
from testlist.languages.jvm.resolve_classes import Nature, Natures, is_concrete, is_nested, is_public, runs
from testlist.languages.jvm.resolve_names import NOTHING, Found, Names
from testlist.languages.jvm.resolve_specifications import Row, Specifications
from testlist.languages.jvm.shape import ClassFact, MethodFact, shape
from testlist.model import Test

NESTED: Final = 8  # inner test classes in each other
#: inherited methods and calls that are looked at in one run, ten times what a large repository has
MOST_INHERITED: Final = 1_000_000
TESTNG: Final = "org.testng.annotations.Test"
#: runners that find an inherited test even where a nearer method without annotation overrides it
LENIENT: Final = frozenset({"junit4", "testng"})
#: (framework, whether it runs many times)
Verdict = tuple[str, bool]


@dataclass(frozen=True, slots=True)
class Hit:
    """One test as collected, in the file that defines it."""

    path: str
    name: str
    at: Placed
    framework: str
    suites: tuple[str, ...]
    status: str = "active"
    dynamic: bool = False
    depends: bool = False

    @property
    def place(self) -> tuple[str, int, int, str]:
        """The definition's identity."""
        return (self.path, self.at["line"], self.at["column"], self.framework)


class State(NamedTuple):
    """What a class gives its tests.  depends: whether a condition decides if they run."""

    status: str | None = None
    depends: bool = False


@dataclass(slots=True)
class Collector:
    """Reads files.  kotlin_test: path -> the runner that kotlin.test stands for there."""

    names: Names
    kotlin_test: Callable[[str], str]
    specifications: Specifications
    natures: Natures = field(init=False)
    annotated: dict[tuple[str, int], Verdict | None] = field(default_factory=dict)
    inherited: int = 0

    def __post_init__(self) -> None:
        """Share the names."""
        self.natures = Natures(self.names, self.specifications)

    def file(self, path: str) -> Iterator[Hit]:
        """Tests that run from a file, perhaps defined in others."""
        facts = shape(self.names.facts[path])
        item: ClassFact = {**NOTHING, "methods": facts.get("methods", []), "calls": facts.get("calls", [])}
        whole = Found(path, item)
        yield from self.loose(whole)
        yield from self.specification(whole, self.specifications.factories((), whole.item), State())
        for found in self.names.all(path):
            yield from self.specification(found, self.specifications.factories(found.names, found.item), State())
            if runs(found):
                yield from self.run(found, self.around(found), set(), 0)
            elif is_concrete(found):  # TestNG makes the instances around an inner class as well
                hits = self.methods(self.natures.of(found), self.around(found))
                yield from (hit for hit in hits if hit.framework == "testng")

    def loose(self, whole: Found) -> Iterator[Hit]:
        """Functions of a file that stand in no class."""
        for method in whole.item.get("methods", []):
            found = self.annotation(whole, method)
            if found and found[0] in ("kotlin.test", "junit5") and "abstract" not in method.get("mods", ()):
                status = annotations.status_of(self.names, whole, method["marks"]) or "active"
                depends = annotations.depends(self.names, whole, method["marks"])
                yield Hit(
                    whole.path, method["name"], method, self.runner(whole.path, found[0]), (), status, found[1], depends
                )

    def runner(self, path: str, framework: str) -> str:
        """The framework of a row: kotlin.test stands for another."""
        return self.kotlin_test(path) if framework == "kotlin.test" else framework

    def around(self, found: Found) -> State:
        """What a class has from its annotations, and from those of the classes around it."""
        depends = False
        own = None
        for one in (found, *reversed(found.outer)):
            state = self.state(one)
            depends = depends or state.depends
            if one is found or state.status == "skipped":
                own = own or state.status
        return State(own, depends)

    def state(self, found: Found) -> State:
        """What the annotations of a class say."""
        given = found.item.get("marks", [])
        return State(
            annotations.status_of(self.names, found.scope, given),
            annotations.depends(self.names, found.scope, given),
        )

    def run(self, found: Found, state: State, done: set[int], depth: int) -> Iterator[Hit]:
        """Tests of one class, and of the inner classes that run with it.  done: inner classes that have run."""
        nature = self.natures.of(found)
        if nature.style and "private" in found.item.get("mods", ()):
            return  # discovery leaves private ones out
        yield from self.methods(nature, state)
        for one in self.affordable(nature, "calls") if nature.style else ():
            yield from self.specification(one, self.specifications.rows(one.names, one.item, nature.style), state)
        for one in self.affordable(nature, "classes") if depth < NESTED else ():
            for item in one.item.get("classes", []):
                if is_nested(item) and "abstract" not in item.get("mods", ()) and id(item) not in done:
                    done.add(id(item))  # it may inherit from the class around it, and so hold itself
                    inner = Found(one.path, item, (*one.outer, one))
                    own = self.state(inner)
                    whole = State(state.status or own.status, state.depends or own.depends)
                    yield from self.run(inner, whole, done, depth + 1)

    def affordable(self, nature: Nature, what: Literal["methods", "classes", "calls"]) -> Iterator[Found]:
        """A class and its bases, as long as what has been looked at in bases stays within bounds."""
        for place, one in enumerate(nature.order):
            self.inherited += len(one.item.get(what, ())) + 1 if place else 0
            if self.inherited < MOST_INHERITED or not place:
                yield one

    def methods(self, nature: Nature, given: State) -> Iterator[Hit]:
        """Methods of a class and its bases that are tests, each unless a nearer one stands for it."""
        declared: set[tuple[str, int]] = set()
        taken: set[tuple[str, int]] = set()
        for place, one in enumerate(self.affordable(nature, "methods")):
            mine = {(method["name"], method.get("params", 0)): method for method in one.item.get("methods", [])}
            whole = self.is_whole(nature.order[place:])
            for method in one.item.get("methods", []):
                key = (method["name"], method.get("params", 0))
                verdict = self.verdict(one, method, nature, whole=whole)
                if verdict is None or key in (taken if verdict[0] in LENIENT and "marks" in method else declared):
                    continue
                taken.add(key)
                status = self.status(one, method, verdict[0], given.status)
                depends = given.depends or annotations.depends(self.names, one, method.get("marks", []))
                runner = self.runner(one.path, verdict[0])
                yield Hit(one.path, method["name"], method, runner, one.names, status, verdict[1], depends)
            declared |= mine.keys()

    def status(self, found: Found, method: MethodFact, framework: str, around: str | None) -> str:
        """A method's status: of its own annotations, else of its classes'."""
        own = annotations.status_of(self.names, found, method.get("marks", []))
        if own is None and framework == "testng":
            said = method if self.annotation(found, method) else found.item
            own = "skipped" if annotations.is_disabled(said.get("marks", [])) else None
        return around if around == "skipped" else own or around or "active"

    def verdict(self, found: Found, method: MethodFact, nature: Nature, *, whole: bool) -> Verdict | None:
        """Whose test a method is."""
        annotated = self.annotation(found, method)
        if annotated and not (annotated[0] == "junit4" and nature.known and not nature.runner):
            return admitted(annotated, method, nature)
        if "receiver" in method or ("static" in method.get("mods", ()) and not whole):
            return None
        if nature.style and nature.style == self.specifications.methods:
            return (self.specifications.framework, False) if self.specifications.has_method(method) else None
        if nature.specification:
            return ("spock", method.get("where", False)) if method.get("blocks") else None
        return unmarked(found, method, nature, whole=whole)

    def specification(self, found: Found, declared: Iterator[Row], state: State) -> Iterator[Hit]:
        """Rows of a specification as hits."""
        for row in declared:
            status = state.status or row.status
            framework = self.specifications.framework
            yield Hit(found.path, row.name, row.call, framework, row.suites, status, row.dynamic, state.depends)

    def annotation(self, found: Found, method: MethodFact) -> Verdict | None:
        """What the annotations of a method make of it."""
        key = (found.path, id(method))
        if key not in self.annotated:
            said = (
                annotations.runner_of(self.names, found, mark[0], annotations.STEPS) for mark in method.get("marks", [])
            )
            verdicts = [one for one in said if one]
            self.annotated[key] = max(verdicts, key=lambda one: one[1]) if verdicts else None
        return self.annotated[key]

    def is_whole(self, order: Sequence[Found]) -> bool:
        """Whether TestNG's annotation on a class or on a base of it makes its public methods tests."""
        return any(
            TESTNG in self.names.candidates(one.scope, mark[0])
            for one in order
            for mark in one.item.get("marks", [])
            if mark[0].endswith("Test")
        )


def admitted(verdict: Verdict, method: MethodFact, nature: Nature) -> Verdict | None:
    """An annotated method, unless its runner would leave it out."""
    framework, dynamic = verdict
    mods = set(method.get("mods", ()))
    if framework == "junit4":
        return None if mods & {"private", "static"} else (framework, dynamic or nature.many)
    if framework == "testng":
        refused = method.get("value") or (method["name"] == "main" and "static" in mods)
        return None if refused else (framework, annotations.repeats(method["marks"]))
    if mods & {"private", "abstract"} or (not dynamic and ("static" in mods or method.get("value"))):
        return None
    return verdict


def unmarked(found: Found, method: MethodFact, nature: Nature, *, whole: bool) -> Verdict | None:
    """A method that its name or its class makes a test."""
    if "abstract" in method.get("mods", ()) or method.get("value") or not is_public(found, method):
        return None
    static = "static" in method.get("mods", ())
    if nature.case and not static and method["name"].startswith("test") and not method.get("params"):
        return ("junit4", False)
    configures = any(mark[0].rpartition(".")[2] in annotations.CONFIGURING for mark in method.get("marks", []))
    return ("testng", False) if whole and not configures and not (static and method["name"] == "main") else None


def folded_row(hits: Sequence[Hit]) -> Test:
    """One definition; it is skipped only if it is skipped wherever it runs."""
    hit = min(hits, key=lambda one: (one.status != "active", one.depends))
    return rows.row(
        hit.framework,
        hit.path,
        hit.suites,
        hit.name,
        hit.at,
        status=hit.status,
        dynamic=hit.dynamic,
        depends=hit.depends,
    )
