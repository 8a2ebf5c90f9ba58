"""GoConvey: calls of Convey in functions of tests; one that others stand in is a suite of these."""

from collections.abc import Iterable, Sequence
from typing import Final

from testlist.interface import Claim, Signal
from testlist.kit.scope import DeclaredFramework, DefaultScope
from testlist.languages.go.collect_specs import Around, specs
from testlist.languages.go.language import GO
from testlist.languages.go.scope import config_language, is_constrained, is_test_file
from testlist.languages.go.shape import shape
from testlist.model import Facts, FactsByPath, Test

NAME: Final = "goconvey"


class GoConveyScope(DefaultScope):
    """GoConvey in one repository; every file stands for itself."""

    __slots__ = ()

    def wants(self, path: str) -> bool:
        """Files of tests."""
        return is_test_file(path)

    def claim(self, path: str, facts: Facts) -> Claim | None:  # noqa: ARG002 - the interface has it
        """Files with such calls."""
        return Claim(Signal.IMPORT) if "conveys" in facts else None

    def tests(self, owned: Sequence[str], facts: FactsByPath) -> Iterable[Test]:
        """All of them, below the functions that they stand in."""
        for path in owned:
            one = shape(facts[path])
            for fact in one["conveys"]:
                suites = (fact["function"],) if "function" in fact else ()
                yield from specs(NAME, path, [fact], Around(suites, when=is_constrained(path, one)))


#: its files have functions that `go test` runs, too
GOCONVEY: Final = DeclaredFramework(NAME, GO.ids, lambda _: GoConveyScope(), shared=True, configures=config_language)
