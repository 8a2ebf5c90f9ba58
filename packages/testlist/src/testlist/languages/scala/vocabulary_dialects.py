"""A test framework of Scala as data: by what its classes are known, and what its words mean."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

NEVER: Final = re.compile(r"(?!)")


@dataclass(frozen=True, slots=True)
class Dialect:
    """One framework, or one of its styles.

    roots: whole names of classes whose heirs hold tests; package: what is imported by who uses the framework.
    kinds: what a run makes tests of; fills: it also makes classes that ask for values.
    tests, groups: words; many: those of them that stand for many tests; nests: a test that holds tests is a group;
    receivers: a test may be a method of anything; prefixes: the verb behind a subject begins the names of its tests,
    otherwise it ends the name of the group.
    statuses: of words, marks and annotations; conditions: marks of tests that run only somewhere.
    methods: names of methods that are tests; annotated: whole names of annotations of such; repeats: of these, those
    that run many times.
    """

    framework: str
    roots: re.Pattern[str] = NEVER
    package: re.Pattern[str] = NEVER
    kinds: frozenset[str] = frozenset({"class", "object"})
    fills: bool = False
    tests: frozenset[str] = frozenset()
    groups: frozenset[str] = frozenset()
    many: frozenset[str] = frozenset()
    nests: bool = False
    receivers: bool = False
    prefixes: bool = False
    statuses: Mapping[str, str] = field(default_factory=dict)
    conditions: re.Pattern[str] = NEVER
    methods: re.Pattern[str] = NEVER
    annotated: re.Pattern[str] = NEVER
    repeats: re.Pattern[str] = NEVER

    @property
    def words(self) -> frozenset[str]:
        """All words that it has a meaning for."""
        return self.tests | self.groups
