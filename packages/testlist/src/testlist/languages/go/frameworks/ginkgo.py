"""Ginkgo: calls of It, Specify and DescribeTable in files that import it, below the titles of their groups.

A function that `go test` runs and that runs the specs is a test of Go's testing package, as one that runs a suite of
testify or gocheck is: the go tool lists it, and it may skip.  Specs also stand in packages that files of tests import.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.go.collect_specs import Around, specs
from testlist.languages.go.config_modules import MANIFEST
from testlist.languages.go.language import GO
from testlist.languages.go.scope import config_language, is_constrained, is_left_out, is_test_file
from testlist.languages.go.shape import shape
from testlist.model import Facts, FactsByPath, Test
from testlist.project import Project, folder_of

NAME: Final = "ginkgo"
#: folders that hold packages of tests
TESTS: Final = re.compile(r"(?:^|[/_-])(?:e2e|specs?|tests?)|tests?(?:/|$)")


@dataclass(frozen=True, slots=True)
class GinkgoScope(DefaultScope):
    """Ginkgo in one repository.  required: whether a module asks for it."""

    required: bool

    @classmethod
    def of(cls, project: Project) -> "GinkgoScope":
        """Look into the modules."""
        return cls(any((project.data(path) or {}).get(NAME) for path in project.named(MANIFEST)))

    def wants(self, path: str) -> bool:
        """Files of tests, and other files in folders of tests."""
        if is_test_file(path):
            return True
        return self.required and not is_left_out(path) and TESTS.search(folder_of(path)) is not None

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with specs."""
        return Claim(Signal.IMPORT) if "specs" in facts else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """All specs."""
        for path in owned:
            one = shape(facts[path])
            yield from specs(NAME, path, one["specs"], Around(when=is_constrained(path, one)))


#: its files have functions that `go test` runs, too
GINKGO: Final = DeclaredFramework(NAME, GO.ids, GinkgoScope.of, shared=True, configures=config_language)
