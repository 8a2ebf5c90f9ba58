"""Bats: `@test "..." {`, `name() { # @test` and `bats_test_function` in `.bats` files.

A `skip` that is always reached skips a test, or all of a file in its setup; any other is a condition.
"""

from collections.abc import Iterable, Sequence
from typing import Final

from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.bats.collect import FRAMEWORK, collect
from testlist.languages.bats.language import BATS as LANGUAGE
from testlist.languages.bats.shape import shape
from testlist.model import FactsByPath, Test

SUFFIX: Final = ".bats"
#: folders whose files are the input of a program, as of Bats itself
INPUTS: Final = frozenset({"fixture", "fixtures", "testdata"})


class BatsScope(DefaultScope):
    """Bats in one repository."""

    def wants(self, path: str) -> bool:
        """Files with its suffix."""
        return path.endswith(SUFFIX) and INPUTS.isdisjoint(path.split("/")[:-1])

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """Tests, file by file."""
        return (test for path in owned for test in collect(path, shape(facts[path])))


BATS: Final = DeclaredFramework(FRAMEWORK, LANGUAGE.ids, lambda _: BatsScope())
