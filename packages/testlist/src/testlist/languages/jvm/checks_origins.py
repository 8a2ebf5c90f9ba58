"""Where the functions that a file calls come from, as far as its imports say so."""

import re
from dataclasses import dataclass
from itertools import islice
from typing import Final

from testlist.languages.jvm import facts_header
from testlist.languages.jvm.shape import Import
from testlist.languages.jvm.vocabulary_checks import HINTS, HOMES, LIBRARIES, Order

JAVA_IMPORT: Final = re.compile(
    rb"(?m)(?:^|(?<=;))[ \t]*+import[ \t]++(?:static[ \t]++)?(\w++(?:\.\w++)*)(\.\*)?[ \t]*+;"
)
#: what the base class of JUnit 3 is called
CASE: Final = "TestCase"
#: imports of one file that are looked at
MOST: Final = 2_000
#: packages that are no repository's own
FOREIGN: Final = ("java.", "javax.", "kotlin.", "org.junit.", "org.mockito.", "org.hamcrest.", "org.assertj.")


@dataclass(frozen=True, slots=True)
class Origins:
    """Names of one file.

    names: name -> where it is imported from, whole; stars: classes and packages that it takes all from; own: functions
    that it declares itself; default: the order of functions whose home nobody tells.
    """

    names: dict[str, str]
    stars: tuple[str, ...]
    own: frozenset[str]
    default: Order

    def order(self, name: str, owner: str) -> Order | None:
        """The order of the arguments of a function of a known library; None for any other function.

        owner: what it is called on, as it is written; empty for nothing.
        """
        if owner:
            whole = self.names.get(owner, owner)
            homes = (whole, *(f"{star}.{owner}" for star in self.stars))
            library: Order | None = "message_last" if self.is_of_library(owner) else None
            return next((HOMES[home] for home in homes if home in HOMES), library)
        if name in self.names:
            home = self.names[name].rpartition(".")[0]
            return HOMES.get(home, "message_last" if self.is_of_library(name) else None)
        if name in self.own:
            return None
        return next((HOMES[star] for star in self.stars if star in HOMES), self.default)

    def is_of_library(self, name: str) -> bool:
        """Whether a name is imported from a library of checks."""
        return self.names.get(name, "").startswith(LIBRARIES)

    def is_foreign(self, name: str) -> bool:
        """Whether a name is imported from elsewhere."""
        return name in self.names and not self.is_of_library(name)

    def is_from(self, name: str, beginnings: tuple[str, ...]) -> bool:
        """Whether a name is imported from such a package, or may be as all of one is."""
        if name in self.names:
            return self.names[name].startswith(beginnings)
        return name not in self.own and any(f"{star}.".startswith(beginnings) for star in self.stars)

    def is_certain(self, name: str, owner: str = "") -> bool:
        """Whether a function surely is a library's.  owner: what it is called on; empty for nothing."""
        first = owner or name
        if first in self.names or first in self.own or self.is_open:
            return self.is_of_library(first)
        if owner:
            return any(f"{star}.{owner}" in HOMES for star in self.stars)
        return name == "assert" or self.is_case or any(star in HOMES for star in self.stars)

    @property
    def is_open(self) -> bool:
        """Whether the file takes all of a package that nobody knows, which may have anything."""
        return any(not f"{star}.".startswith((*LIBRARIES, *FOREIGN)) for star in self.stars)

    @property
    def is_case(self) -> bool:
        """Whether `TestCase` is the class of JUnit 3."""
        if CASE in self.names:
            return self.names[CASE] == f"junit.framework.{CASE}"
        return "junit.framework" in self.stars and not self.is_open

    @property
    def elsewhere(self) -> dict[str, str]:
        """Imported names that may be the repository's."""
        others = ((name, whole) for name, whole in self.names.items() if not whole.startswith(FOREIGN))
        return dict(islice(others, MOST))

    def has(self, *beginnings: str) -> bool:
        """Whether the file imports anything that begins so."""
        return any(one.startswith(beginnings) for one in (*self.names.values(), *(f"{star}." for star in self.stars)))


def origins(source: bytes, language: str, own: frozenset[str]) -> Origins:
    """Read the imports of a file."""
    found = _java(source) if language == "java" else facts_header.read(source).imports
    names = {alias: dotted for dotted, alias in found[:MOST] if alias != "*"}
    stars = tuple(dotted for dotted, alias in found[:MOST] if alias == "*")
    whole = [*names.values(), *(f"{star}." for star in stars)]
    hinted = (order for beginning, order in HINTS.items() if any(one.startswith(beginning) for one in whole))
    return Origins(names, stars, own, next(hinted, "message_first" if language == "java" else "message_last"))


def _java(source: bytes) -> list[Import]:
    found = ((one[1].decode(), bool(one[2])) for one in JAVA_IMPORT.finditer(source))
    return [(dotted, "*" if star else dotted.rpartition(".")[2]) for dotted, star in found]
