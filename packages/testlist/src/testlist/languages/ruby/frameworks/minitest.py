"""Minitest: `test_*` methods of test cases, `test "..." do` of Rails, `it` of its spec style, `should` of shoulda.

A method of a module counts once, where it is written, if some test case mixes the module in.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final, cast

from testlist.interface import Claim, Signal
from testlist.kit.rows import Placed, row
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages import written_in
from testlist.languages.ruby.config import SPECS, TESTS
from testlist.languages.ruby.language import RUBY
from testlist.languages.ruby.resolve import Resolver, is_template
from testlist.languages.ruby.resolve_classes import Classes, within
from testlist.languages.ruby.vocabulary import GROUPS, METHOD_LIKE
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project

FOLDERS: Final = frozenset({"test", "tests"})
#: examples of its spec style
SPEC: Final = frozenset({"it", "specify"})
DSL: Final = frozenset({"Minitest::Spec::DSL", "MiniTest::Spec::DSL"})
#: methods that Ruby calls itself
HOOKS: Final = frozenset({"included", "extended", "inherited", "prepended"})
SKIPPED: Final = frozenset({"xit", "should_eventually"})
Item = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Around:
    """What surrounds a test.  in_case: methods here are tests; in_spec: examples are."""

    suites: tuple[str, ...] = ()
    namespace: str = ""
    in_case: bool = False
    in_spec: bool = False
    dynamic: bool = False
    in_module: bool = False
    in_method: bool = False
    depends: bool = False  # a condition decides


@dataclass(slots=True)
class MinitestScope(DefaultScope):
    """Minitest in one repository."""

    resolver: Resolver

    def wants(self, path: str) -> bool:
        """`test_*.rb`, `*_test.rb`, `*_spec.rb`, and every Ruby file below a folder of tests."""
        *folders, name = path.split("/")
        if not name.endswith(".rb") or is_template(path):
            return False
        return name.startswith("test_") or name.endswith(("_test.rb", "_spec.rb")) or bool(TESTS & set(folders))

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files of base classes."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:
        """A file that loads it, or stands where its tests do and loads no other."""
        said = self.resolver.speaks(path, facts)
        if said == "rspec" or (said is None and is_spec(path) and not has_cases(facts)):
            return None
        if self.resolver.runs().apart(path, TESTS):
            return None
        return Claim(Signal.IMPORT if said else Signal.NAME)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests of cases, modules mixed into them, and groups."""
        classes = self.resolver.classes(facts)
        called = HOOKS.union(*(one.get("calls", ()) for one in written_in("ruby", facts)))
        for path in owned:
            reading = Reading(path, classes, called)
            yield from unique(reading.rows(facts[path].get("items", []), Around()))


@dataclass(frozen=True, slots=True)
class Reading:
    """One file."""

    path: str
    classes: Classes
    called: frozenset[str]  # names of methods that some file calls

    def rows(self, items: Sequence[Item], around: Around) -> Iterator[tuple[Test, bool]]:
        """Tests among items, each with whether it stands in the other branch of a condition."""
        hidden = {name for item in items if item["k"] == "hide" for name in item["names"]}
        for item in items:
            other = "other" in item
            if item["k"] == "class":
                yield from self.rows(item["body"], self.inside(item, around))
            elif item["k"] == "module":
                full = within(around.namespace, item["name"])
                mixed = speaks_spec(item["body"]) or (bool(item["name"]) and self.classes.is_mixed(full))
                suites = (*around.suites, item["name"]) if item["name"] else around.suites
                depends = around.depends or "when" in item
                inner = Around(suites, full, in_case=mixed, in_spec=mixed, in_module=True, depends=depends)
                yield from self.rows(item["body"], inner)
            elif item["k"] == "macro" and around.in_case and self.is_used(item, around):
                depends = around.depends or "when" in item
                yield from self.rows(item["body"], replace(around, dynamic=True, in_method=True, depends=depends))
            elif item["k"] == "def" and around.in_case:
                if item["name"].startswith("test_") and "hidden" not in item and item["name"] not in hidden:
                    yield self.row(item, around, "skipped" if "skip" in item else "active"), other
            elif item["k"] == "call":
                yield from self.call(item, around)

    def is_used(self, item: Item, around: Around) -> bool:
        """Whether a method that declares tests belongs to classes, and is called."""
        return (item["own"] or around.in_module) and (item["name"] in self.called or "loop" in item)

    def inside(self, item: Item, around: Around) -> Around:
        """What a class surrounds its body with."""
        full = within(around.namespace, item["name"])
        in_case = self.classes.is_test(around.namespace, item["name"], item.get("base"))
        suites = (*around.suites, item["name"]) if item["name"] else around.suites
        depends = around.depends or "when" in item
        return Around(suites, full, in_case, in_case, around.dynamic or "loop" in item, depends=depends)

    def call(self, item: Item, around: Around) -> Iterator[tuple[Test, bool]]:
        """Tests of a group, or one test declared by a call."""
        method = item["m"]
        if method in GROUPS:
            dynamic = around.dynamic or "loop" in item
            depends = around.depends or "when" in item
            inner = Around((*around.suites, item["title"]), around.namespace, True, True, dynamic, depends=depends)
            yield from self.rows(item["body"], inner)
        elif "handed" in item and around.in_method:
            return  # the block of whoever calls the method
        elif (method in METHOD_LIKE and around.in_case) or (method in SPEC | SKIPPED and around.in_spec):
            skipped = method in SKIPPED or "skip" in item
            matcher = method == "should" and "block" not in item
            status = "skipped" if skipped else "active" if "block" in item or matcher else "todo"
            yield self.row({**item, "name": item["title"]}, around, status), "other" in item

    def row(self, item: Item, around: Around, status: str) -> Test:
        """One row."""
        return row(
            "minitest",
            self.path,
            around.suites,
            item["name"],
            cast(Placed, item),
            status=status,
            dynamic=around.dynamic or "loop" in item,
            depends=around.depends or "when" in item,
        )


def speaks_spec(body: Sequence[Item]) -> bool:
    """Whether a module has the words of the spec style, and so holds tests for whoever includes it."""
    return any(item["k"] == "mix" and not DSL.isdisjoint(item["names"]) for item in body)


def unique(tests: Iterator[tuple[Test, bool]]) -> Iterator[Test]:
    """A method that is defined twice in a class is its last definition; the other branch only fills gaps."""
    last: dict[tuple[Any, ...], Test] = {}
    for test, other in tests:
        key: tuple[Any, ...] = (test.suites, test.name)
        if test.dynamic or not test.name.startswith("test_"):
            key = (*key, test.line, test.column)
        if not (other and key in last):
            last[key] = test
    yield from last.values()


def is_spec(path: str) -> bool:
    """Whether a file's name or folder is one that the other framework has as well."""
    return path.endswith("_spec.rb") or not in_tests(path)


def in_tests(path: str) -> bool:
    """Whether a file lies where tests do, and none of the folders is one of specs."""
    folders = path.split("/")[:-1]
    return SPECS.isdisjoint(folders) or not FOLDERS.isdisjoint(folders)


def has_cases(facts: Facts) -> bool:
    """Whether a file has test methods in a class."""
    todo: list[tuple[Item, bool]] = [(item, False) for item in facts.get("items", [])]
    while todo:
        item, in_class = todo.pop()
        if in_class and (item["k"] == "def" or (item["k"] == "call" and item["m"] == "test")):
            return True
        if item["k"] in ("class", "module"):
            todo += [(inner, item["k"] == "class") for inner in item["body"]]
    return False


def scope(project: Project) -> MinitestScope:
    """What both Ruby frameworks know."""
    return MinitestScope(project.once(Resolver.of))


MINITEST: Final = DeclaredFramework("minitest", RUBY.ids, scope)
