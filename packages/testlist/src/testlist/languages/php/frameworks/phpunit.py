"""PHPUnit: public test methods of classes whose ancestors end in a TestCase; files by phpunit.xml."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from testlist.interface import Claim, Signal
from testlist.languages.php.resolve import Resolver, config_language
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class PhpunitScope:
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
        return Claim(Signal.CONFIG) if facts.get("classes") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Test methods."""
        return self.resolver.tests(owned, facts)


@dataclass(frozen=True, slots=True)
class Phpunit:
    """The framework."""

    name: str = field(default="phpunit", init=False)
    shared: bool = field(default=True, init=False)
    languages: frozenset[str] = field(default=frozenset({"php"}), init=False)

    def config_language(self, path: str) -> str | None:
        """phpunit.xml."""
        return config_language(path)

    def scope(self, project: Project) -> PhpunitScope:
        """Read every configuration of the repository."""
        return PhpunitScope(Resolver.of(project))


PHPUNIT = Phpunit()
