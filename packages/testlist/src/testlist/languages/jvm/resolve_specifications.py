"""Specifications: classes whose tests are calls.  A framework that has them says here which these are."""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass

from testlist.languages.jvm.shape import CallFact, Members, MethodFact


@dataclass(frozen=True, slots=True)
class Row:
    """One test."""

    call: CallFact
    name: str
    suites: tuple[str, ...]
    status: str
    dynamic: bool


def no_rows(suites: tuple[str, ...], item: Members, style: str = "") -> Iterator[Row]:  # noqa: ARG001 - all have it
    """None."""
    return iter(())


@dataclass(frozen=True, slots=True)
class Specifications:
    """The specifications of one framework; without arguments, of none.

    package: where its base classes are; styles: what these are called; methods: the style whose tests are methods.
    rows: tests of a specification of one style; factories: those that do not depend on the class they stand in.
    """

    framework: str = ""
    package: str = ""
    styles: tuple[str, ...] = ()
    methods: str = ""
    rows: Callable[[tuple[str, ...], Members, str], Iterator[Row]] = no_rows
    factories: Callable[[tuple[str, ...], Members], Iterator[Row]] = no_rows

    @property
    def roots(self) -> frozenset[str]:
        """Full names of the base classes."""
        return frozenset(f"{self.package}.{style}" for style in self.styles)

    def style(self, parents: Collection[str]) -> str:
        """The style of a class by the last names of its superclass; an empty text for a class that has none."""
        return next((style for style in self.styles if any(name.endswith(style) for name in parents)), "")

    def has_method(self, method: MethodFact) -> bool:
        """Whether a method of a class in the style of methods is a test."""
        return any(mark[0] in ("Test", f"{self.methods}.Test") for mark in method.get("marks", []))
