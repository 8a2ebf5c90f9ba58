"""Minitest: `test_*` methods of test cases, `test "..." do` of Rails, `it` of its spec style, `should` of shoulda.

A method of a module counts once, where it is written, if some test case mixes the module in.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.ruby.collect_minitest import Around, Reading, unique
from testlist.languages.ruby.config import SPECS, TESTS
from testlist.languages.ruby.language import RUBY
from testlist.languages.ruby.resolve import Resolver, is_template, read
from testlist.languages.ruby.shape import Item, RubyFacts, shape
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project

FOLDERS: Final = frozenset({"test", "tests"})
#: methods that Ruby calls itself
HOOKS: Final = frozenset({"included", "extended", "inherited", "prepended"})


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
        if said == "rspec" or (said is None and is_spec(path) and not has_cases(shape(facts))):
            return None
        if self.resolver.runs().apart(path, TESTS):
            return None
        return Claim(Signal.IMPORT if said else Signal.NAME)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests of cases, modules mixed into them, and groups."""
        classes = self.resolver.classes(facts)
        called = HOOKS.union(*(one.get("calls", ()) for one in read(facts)))
        for path in owned:
            reading = Reading(path, classes, called)
            yield from unique(reading.rows(shape(facts[path]).get("items", []), Around()))


def is_spec(path: str) -> bool:
    """Whether a file's name or folder is one that the other framework has as well."""
    return path.endswith("_spec.rb") or not in_tests(path)


def in_tests(path: str) -> bool:
    """Whether a file lies where tests do, and none of the folders is one of specs."""
    folders = path.split("/")[:-1]
    return SPECS.isdisjoint(folders) or not FOLDERS.isdisjoint(folders)


def has_cases(facts: RubyFacts) -> bool:
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
