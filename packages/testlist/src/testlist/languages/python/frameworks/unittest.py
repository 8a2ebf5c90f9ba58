"""unittest: `test*` methods of classes whose bases end in a TestCase, through the whole repository.

Where pytest is configured it runs these classes too, so its candidates count; elsewhere unittest's own
discovery pattern `test*.py` is added with every package, and everywhere what a command gives it.
"""

from dataclasses import dataclass
from typing import Final

from testlist.kit.scope import DeclaredFramework, ResolvedScope
from testlist.languages.python.config import config_language
from testlist.languages.python.config_discovery import RunnerCommands
from testlist.languages.python.language import PYTHON
from testlist.languages.python.resolve import Resolver
from testlist.project import Project


@dataclass(slots=True)
class UnittestScope(ResolvedScope):
    """unittest in one repository."""

    commands: RunnerCommands

    def wants(self, path: str) -> bool:
        """Take pytest's candidates, and those of discovery where it is the only runner."""
        return path.endswith(".py") and (self.resolver.wants(path) or self.commands.takes(path))


def scope(project: Project) -> UnittestScope:
    """Read every configuration of the repository, and the commands that run unittest."""
    resolver = project.once(Resolver.of)
    return UnittestScope(resolver, "unittest", resolver.commands)


#: it has no configuration of its own; pytest's decides what is run
UNITTEST: Final = DeclaredFramework("unittest", PYTHON.ids, scope, shared=True, configures=config_language)
