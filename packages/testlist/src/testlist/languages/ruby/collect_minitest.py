"""Rows of Minitest: methods of test cases and of what is mixed into them, and examples of groups."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Final

from testlist.kit.rows import row
from testlist.languages.ruby.resolve_classes import Classes, within
from testlist.languages.ruby.shape import CallItem, ClassItem, Item, MacroItem, MethodItem
from testlist.languages.ruby.vocabulary import GROUPS, METHOD_LIKE
from testlist.model import Test

#: examples of its spec style
SPEC: Final = frozenset({"it", "specify"})
DSL: Final = frozenset({"Minitest::Spec::DSL", "MiniTest::Spec::DSL"})
SKIPPED: Final = frozenset({"xit", "should_eventually"})


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
                    yield self.row(item, item["name"], around, "skipped" if "skip" in item else "active"), other
            elif item["k"] == "call":
                yield from self.call(item, around)

    def is_used(self, item: MacroItem, around: Around) -> bool:
        """Whether a method that declares tests belongs to classes, and is called."""
        return (item["own"] or around.in_module) and (item["name"] in self.called or "loop" in item)

    def inside(self, item: ClassItem, around: Around) -> Around:
        """What a class surrounds its body with."""
        full = within(around.namespace, item["name"])
        in_case = self.classes.is_test(around.namespace, item["name"], item.get("base"))
        suites = (*around.suites, item["name"]) if item["name"] else around.suites
        depends = around.depends or "when" in item
        return Around(suites, full, in_case, in_case, around.dynamic or "loop" in item, depends=depends)

    def call(self, item: CallItem, around: Around) -> Iterator[tuple[Test, bool]]:
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
            yield self.row(item, item["title"], around, status), "other" in item

    def row(self, item: MethodItem | CallItem, name: str, around: Around, status: str) -> Test:
        """One row."""
        return row(
            "minitest",
            self.path,
            around.suites,
            name,
            item,
            status=status,
            dynamic=around.dynamic or "loop" in item,
            depends=around.depends or "when" in item,
        )


def speaks_spec(body: Sequence[Item]) -> bool:
    """Whether a module has the words of the spec style, and so holds tests for whoever includes it."""
    return any(item["k"] == "mix" and not DSL.isdisjoint(item["names"]) for item in body)


def unique(tests: Iterator[tuple[Test, bool]]) -> Iterator[Test]:
    """A method that is defined twice in a class is its last definition; the other branch only fills gaps."""
    last: dict[tuple[object, ...], Test] = {}
    for test, other in tests:
        key: tuple[object, ...] = (test.suites, test.name)
        if test.dynamic or not test.name.startswith("test_"):
            key = (*key, test.line, test.column)
        if not (other and key in last):
            last[key] = test
    yield from last.values()
