"""Pest: calls of it, test, todo and arch, in describes or at the top of a file; files by phpunit.xml."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Final

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.php.collect_pest import collect
from testlist.languages.php.language import PHP
from testlist.languages.php.resolve import Resolver, config_language
from testlist.languages.php.shape import shape
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project, folder_of

SET_UP: Final = "Pest.php"
PACKAGE: Final = "pestphp/pest"


@dataclass(slots=True)
class PestScope(DefaultScope):
    """Pest in one repository.  folders: those whose project speaks of it."""

    resolver: Resolver
    folders: frozenset[str]

    def wants(self, path: str) -> bool:
        """Files of PHPUnit's test suites, which Pest loads."""
        return self.resolver.wants(path) and self.is_spoken_of(path)

    def is_spoken_of(self, path: str) -> bool:
        """Whether a folder around a file speaks of Pest."""
        parts = folder_of(path).split("/")
        return any("/".join(parts[:length]) in self.folders for length in range(len(parts) + 1))

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with calls."""
        return Claim(Signal.CONFIG) if shape(facts).get("calls") else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Calls that register tests."""
        return (test for path in owned for test in collect(path, shape(facts[path])["calls"]))


def scope(project: Project) -> PestScope:
    """Find the folders that speak of it: in composer.json, or by a set-up file of its own among tests."""
    packages = (path for path in project.named("composer.json") if speaks(project.data(path)))
    set_ups = (folder_of(path) for path in project.blobs if path.rpartition("/")[2] == SET_UP)
    return PestScope(project.once(Resolver.of), frozenset([*map(folder_of, packages), *set_ups]))


def speaks(data: Any) -> bool:
    """Whether a composer.json asks for Pest, or is its own."""
    whole = data if isinstance(data, dict) else {}
    tables = (whole.get(key) for key in ("require", "require-dev"))
    return whole.get("name") == PACKAGE or any(isinstance(table, dict) and PACKAGE in table for table in tables)


#: phpunit.xml and composer.json configure it
PEST: Final = DeclaredFramework("pest", PHP.ids, scope, shared=True, configures=config_language)
