"""pytest: functions and classes by name, as its configuration says; all but methods of a unittest.TestCase."""

from typing import Final

from testlist.kit.scope import DeclaredFramework, ResolvedScope
from testlist.languages.python.config import config_language
from testlist.languages.python.language import PYTHON
from testlist.languages.python.resolve import Resolver
from testlist.project import Project


def scope(project: Project) -> ResolvedScope:
    """Read every configuration of the repository."""
    return ResolvedScope(project.once(Resolver.of), "pytest")


#: pytest.ini and its five other homes configure it, and conftest.py
PYTEST: Final = DeclaredFramework("pytest", PYTHON.ids, scope, shared=True, configures=config_language)
