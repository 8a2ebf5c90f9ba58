"""pytest: functions and classes by name, as its configuration says.

Candidates, names and status marks come from the Python family; this file says which of the collected
tests are pytest's own: all that do not stand in a unittest.TestCase.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.python.config import config_language
from testlist.languages.python.language import PYTHON
from testlist.languages.python.resolve import Resolver
from testlist.model import FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class PytestScope(DefaultScope):
    """pytest in one repository."""

    resolver: Resolver

    def wants(self, path: str) -> bool:
        """By python_files and testpaths of the configuration that governs the path."""
        return path.endswith(".py") and self.resolver.scope_of(path).collects(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that base classes, decorators and imported tests come from."""
        return self.resolver.needs(facts)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """All but the methods of TestCase classes."""
        return self.resolver.tests(owned, facts, framework="pytest", in_case=False)


def scope(project: Project) -> PytestScope:
    """Read every configuration of the repository."""
    return PytestScope(project.once(Resolver.of))


#: pytest.ini and its five other homes configure it, and conftest.py
PYTEST: Final = DeclaredFramework("pytest", PYTHON.ids, scope, shared=True, configures=config_language)
