"""What the runners of the JVM share: each looks for its own tests in the same files."""

from typing import ClassVar

from testlist.interface import Signal
from testlist.kit.scope import DeclaredFramework, ResolvedScope
from testlist.languages.jvm.config_build_files import config_language
from testlist.languages.jvm.language import JVM
from testlist.languages.jvm.resolve import Resolver
from testlist.languages.jvm.resolve_specifications import Specifications
from testlist.project import Project


class JvmScope(ResolvedScope):
    """One runner in one repository."""

    __slots__ = ()

    signal: ClassVar[Signal] = Signal.IMPORT


def framework(name: str, specifications: Specifications | None = None) -> DeclaredFramework:
    """A runner.  Build files name projects and choose the runner behind kotlin.test; commands start builds.

    specifications: what of it all must know, for a file may hold tests of several runners.
    """

    def scope(project: Project) -> JvmScope:
        resolver = project.once(Resolver.of)
        if specifications is not None:
            resolver.specify(specifications)
        return JvmScope(resolver, name)

    return DeclaredFramework(name, JVM.ids, scope, shared=True, configures=config_language)
