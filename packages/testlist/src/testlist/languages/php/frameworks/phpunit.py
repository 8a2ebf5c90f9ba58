"""PHPUnit: public test methods of classes whose ancestors end in a TestCase; files by phpunit.xml."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.php.collect_phpunit import collect
from testlist.languages.php.language import PHP
from testlist.languages.php.resolve import Resolver, config_language
from testlist.languages.php.shape import shape
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class PhpunitScope(DefaultScope):
    """PHPUnit in one repository."""

    resolver: Resolver

    def wants(self, path: str) -> bool:
        """Files of its test suites."""
        return self.resolver.wants(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files of ancestors and traits."""
        return self.resolver.needs(facts)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with classes."""
        return Claim(Signal.CONFIG) if shape(facts).get("classes") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Test methods."""
        return collect(self.resolver, owned, facts)


def scope(project: Project) -> PhpunitScope:
    """Read every configuration of the repository."""
    return PhpunitScope(project.once(Resolver.of))


PHPUNIT: Final = DeclaredFramework("phpunit", PHP.ids, scope, shared=True, configures=config_language)
