"""What the frameworks of Scala share: each looks for its own tests in the same files."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar

from testlist.interface import Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.scala.collect import Reading
from testlist.languages.scala.config import is_candidate
from testlist.languages.scala.language import SCALA
from testlist.languages.scala.resolve import Resolver
from testlist.languages.scala.vocabulary_dialects import Dialect
from testlist.model import FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class ScalaScope(DefaultScope):
    """One framework in one repository."""

    resolver: Resolver
    framework: str

    signal: ClassVar[Signal] = Signal.IMPORT

    def wants(self, path: str) -> bool:
        """Files among tests, and those that are named like one."""
        return is_candidate(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files of what classes are built on."""
        return self.resolver.needs(facts)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests of these files, and of those that they led to."""
        known, holds = self.resolver.known(facts), self.resolver.holds(facts)
        for path in (*owned, *self.resolver.followed(facts)):
            self.resolver.project.beat()
            for found in known.names.all(path):
                for dialect in holds.get(id(found.item), ()):
                    if dialect.framework == self.framework:
                        yield from Reading(found, dialect, known).rows()


def framework(name: str, *dialects: Dialect) -> DeclaredFramework:
    """A framework by its styles.  A file may hold tests of several frameworks."""

    def scope(project: Project) -> ScalaScope:
        resolver = project.once(Resolver.of)
        resolver.specify(dialects)
        return ScalaScope(resolver, name)

    return DeclaredFramework(name, SCALA.ids, scope, shared=True)
