"""RSpec: examples of groups, in files named `*_spec.rb` and in what lies beside them for sharing.

An example in a shared group, or in a method that declares examples, counts once, where it is written.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.ruby.collect_rspec import ON, Around, included, rows
from testlist.languages.ruby.language import RUBY
from testlist.languages.ruby.resolve import Resolver, has_groups, is_template, read
from testlist.languages.ruby.shape import Item, shape
from testlist.languages.ruby.vocabulary import DESCRIBES, SHARED
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project

#: folders of specs and of what specs share
FOLDERS: Final = frozenset({"spec", "specs"})


@dataclass(slots=True)
class RSpecScope(DefaultScope):
    """RSpec in one repository."""

    resolver: Resolver

    def wants(self, path: str) -> bool:
        """`*_spec.rb`, and every Ruby file below a folder of specs, for groups that are shared."""
        *folders, name = path.split("/")
        if not name.endswith(".rb") or is_template(path):
            return False
        return name.endswith("_spec.rb") or "shared_" in path or not FOLDERS.isdisjoint(folders)

    def needs(self, facts: FactsByPath) -> set[str]:
        """The helpers it asks about lie beside the specs; base classes are the other framework's."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:
        """A file with groups that does not load another framework."""
        said = self.resolver.speaks(path, facts)
        if said == "minitest" or not has_groups(shape(facts), DESCRIBES | SHARED if self.runs(path) else SHARED):
            return None
        return Claim(Signal.NAME, priority=200)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Examples; of files that are only loaded by others, those in shared groups."""
        files = list(read(facts))
        used = included(files)
        carried = frozenset(name for one in files for names in one.get("within", {}).values() for name in names)
        for path in owned:
            own = shape(facts[path])
            items = own.get("items", [])
            runs = self.runs(path)
            if runs or not declares(items):
                near = (carried | set(own.get("shares", ()))) & used
                yield from rows(path, items, Around(shared_only=not runs, used=used, near=near))

    def runs(self, path: str) -> bool:
        """Whether its groups are run: by the runner itself, or because a file that is read requires it."""
        return self.resolver.runs().specs(path) or (not path.endswith("_spec.rb") and self.resolver.is_required(path))


def declares(items: Sequence[Item]) -> bool:
    """Whether groups stand in a file that are not shared: it is a spec, not something for specs to load."""
    return any(
        item["k"] == "call" and item["m"] in DESCRIBES and item.get("on", "") in ON and item["body"] for item in items
    )


def config_language(path: str) -> str | None:
    """`.rspec`: options as on its command line."""
    return "words" if path.rpartition("/")[2] == ".rspec" else None


def scope(project: Project) -> RSpecScope:
    """What both Ruby frameworks know."""
    return RSpecScope(project.once(Resolver.of))


RSPEC: Final = DeclaredFramework("rspec", RUBY.ids, scope, configures=config_language)
