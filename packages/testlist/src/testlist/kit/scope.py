"""The base of all frameworks: what most of them answer, and answers that are worked out once."""

from collections.abc import Callable, Iterable, Sequence, Sized
from dataclasses import dataclass
from typing import ClassVar, Generic, Protocol, TypeVar

from testlist.interface import Claim, Scope, Signal
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project

Answer = TypeVar("Answer")


def nothing(path: str) -> str | None:  # noqa: ARG001 - the interface has it
    """No file configures it."""
    return None


@dataclass(frozen=True, slots=True)
class DeclaredFramework:
    """A framework as data.  make: reads the configuration of one repository; configures: as config_language."""

    name: str
    languages: frozenset[str]
    make: Callable[[Project], Scope]
    shared: bool = False
    configures: Callable[[str], str | None] = nothing

    def config_language(self, path: str) -> str | None:
        """The language of a framework's configuration, like Framework.config_language."""
        return self.configures(path)

    def scope(self, project: Project) -> Scope:
        """Read the configuration of one repository."""
        return self.make(project)


class DefaultScope:
    """What most scopes answer; a scope inherits this and says what differs."""

    __slots__ = ()

    #: how a candidate shows whose it is
    signal: ClassVar[Signal] = Signal.NAME

    def needs(self, facts: FactsByPath) -> set[str]:  # noqa: ARG002 - the interface has it
        """Every file stands for itself."""
        return set()

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """All candidates are its own."""
        return Claim(self.signal)


class Resolving(Protocol):
    """A resolver whose tests are those of several frameworks."""

    def wants(self, path: str) -> bool:
        """Whether a file is wanted, like Scope.wants."""

    def needs(self, facts: FactsByPath) -> set[str]:
        """What the frameworks need, like Scope.needs."""

    def tests(self, owned: Sequence[str], facts: FactsByPath, framework: str) -> Iterable[Test]:
        """List the tests of one framework."""


@dataclass(slots=True)
class ResolvedScope(DefaultScope):
    """One framework of those that share a resolver."""

    resolver: Resolving
    framework: str

    def wants(self, path: str) -> bool:
        """What the resolver wants."""
        return self.resolver.wants(path)

    def needs(self, facts: FactsByPath) -> set[str]:
        """What the resolver needs."""
        return self.resolver.needs(facts)

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Its own."""
        return self.resolver.tests(owned, facts, self.framework)


@dataclass(slots=True)
class Growing(Generic[Answer]):
    """An answer about all facts.  These only grow, and every framework asks in each round: it is worked out as they do.

    size: files that were known when it was worked out last.
    """

    answer: Answer
    size: int = 0

    def of(self, facts: Sized, work: Callable[[], Answer]) -> Answer:
        """The answer for what has been read."""
        if self.size != len(facts):
            self.answer, self.size = work(), len(facts)
        return self.answer
