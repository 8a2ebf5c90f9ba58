"""unittest: `test*` methods of classes whose bases end in a TestCase, through the whole repository.

Where pytest is configured it runs these classes too, so its candidates count; elsewhere unittest's own
discovery pattern `test*.py` is added with every package, and everywhere what a command gives it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.python.config import config_language
from testlist.languages.python.config_discovery import Told
from testlist.languages.python.language import PYTHON
from testlist.languages.python.resolve import Resolver
from testlist.model import FactsByPath, Test
from testlist.project import Project


@dataclass(slots=True)
class UnittestScope(DefaultScope):
    """unittest in one repository."""

    resolver: Resolver
    told: Told

    def wants(self, path: str) -> bool:
        """Take pytest's candidates, and those of discovery where it is the only runner."""
        return path.endswith(".py") and (self.resolver.scope_of(path).collects(path) or self.told.takes(path))

    def needs(self, facts: FactsByPath) -> set[str]:
        """Files that base classes come from."""
        return self.resolver.needs(facts)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Methods of TestCase classes."""
        return self.resolver.tests(owned, facts, framework="unittest", in_case=True)


def scope(project: Project) -> UnittestScope:
    """Read every configuration of the repository, and find out whether unittest's own discovery counts."""
    resolver = project.once(Resolver.of)
    spoken_of = any(scope.declared for scope in resolver.scopes) or any(project.named("conftest.py"))
    resolver.told = Told.of(project, discovers=not spoken_of)
    return UnittestScope(resolver, resolver.told)


#: it has no configuration of its own; pytest's decides what is run
UNITTEST: Final = DeclaredFramework("unittest", PYTHON.ids, scope, shared=True, configures=config_language)
