"""What the runners of the JVM share: each looks for its own tests in the same files."""

from typing import ClassVar

from testlist.interface import Signal
from testlist.kit.scope import DeclaredFramework, ResolvedScope
from testlist.languages.jvm.config_build_files import config_language
from testlist.languages.jvm.language import JVM
from testlist.languages.jvm.resolve import Resolver


class JvmScope(ResolvedScope):
    """One runner in one repository."""

    __slots__ = ()

    signal: ClassVar[Signal] = Signal.IMPORT


def framework(name: str) -> DeclaredFramework:
    """A runner.  Build files name projects and choose the runner behind kotlin.test; commands start builds."""
    return DeclaredFramework(
        name,
        JVM.ids,
        lambda project: JvmScope(project.once(Resolver.of), name),
        shared=True,
        configures=config_language,
    )
