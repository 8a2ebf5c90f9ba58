"""Rows of specs, made of facts."""

from collections.abc import Iterator
from typing import Final, NamedTuple

from testlist.kit.rows import row
from testlist.languages.go.shape import SpecFact
from testlist.languages.go.vocabulary import EITHER, GROUP, MEASURE, SUBTREE, TABLE
from testlist.model import Test

FOCUSED: Final = "focused"


class Around(NamedTuple):
    """What holds for all specs of a group.  cases: entries of the table that repeats it."""

    suites: tuple[str, ...] = ()
    status: str | None = None
    made: bool = False
    when: bool = False
    cases: int | None = None


def specs(framework: str, path: str, facts: list[SpecFact], around: Around) -> Iterator[Test]:
    """Tests of one file."""
    for fact in facts:
        here = within(fact, around)
        if is_group(fact):
            inner = here._replace(suites=(*around.suites, fact["title"]))
            yield from specs(framework, path, fact.get("inner", []), inner)
        else:
            yield row(
                framework,
                path,
                around.suites,
                fact["title"],
                fact,
                status=here.status or "active",
                kind="benchmark" if fact["role"] == MEASURE else "test",
                dynamic=here.made or fact["role"] == TABLE,
                cases=here.cases,
                depends=here.when,
            )


def is_group(fact: SpecFact) -> bool:
    """Whether it is no test itself: one of GoConvey's is, unless others stand in it."""
    return fact["role"] in (GROUP, SUBTREE) or (fact["role"] == EITHER and bool(fact.get("inner")))


def within(fact: SpecFact, around: Around) -> Around:
    """What holds for a call, and for all that stands in it; pending is stronger than anything, and focus than none."""
    own = "skipped" if fact.get("skip") else fact.get("status")
    status = around.status if around.status == "skipped" or own is None else own
    return around._replace(
        status=status,
        made=around.made or "made" in fact or fact["role"] == SUBTREE,
        when=around.when or "when" in fact,
        cases=fact.get("cases", around.cases),
    )
