"""The macros that define tests: which argument names what, and whose they are."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

#: owners that only the includes of a file tell apart
EITHER: Final = "catch2 or doctest"


@dataclass(frozen=True, slots=True)
class Macro:
    """One macro.  owner: a framework, or EITHER.

    name, suite: positions of arguments.  marks: position from which tags or decorators stand.  types: position
    from which types are listed.  text: the name is a literal.  body: a block must follow.
    """

    owner: str
    name: int = 0
    suite: int | None = None
    marks: int | None = None
    types: int | None = None
    text: bool = False
    body: bool = True
    dynamic: bool = False
    least: int = 1  # arguments


GTEST: Final = Macro("gtest", name=1, suite=0, least=2)
CATCH: Final = Macro("catch2", text=True, marks=1)
DOCTEST: Final = Macro("doctest", text=True, marks=0)
BOOST: Final = Macro("boost-test", marks=1)

_GTEST: Final = {
    "TEST": GTEST,
    "TEST_F": GTEST,
    "TEST_P": replace(GTEST, dynamic=True),
    "TYPED_TEST": replace(GTEST, dynamic=True),
    "TYPED_TEST_P": replace(GTEST, dynamic=True),
    "GTEST_TEST": GTEST,
    "GTEST_TEST_F": GTEST,
}

_EITHER: Final = {
    "TEST_CASE": replace(CATCH, owner=EITHER, least=0),
    "SCENARIO": replace(CATCH, owner=EITHER),
}

_CATCH: Final = {
    "ANON_TEST_CASE": replace(CATCH, least=0),
    "TEST_CASE_METHOD": replace(CATCH, name=1, marks=2, least=2),
    "TEST_CASE_PERSISTENT_FIXTURE": replace(CATCH, name=1, marks=2, least=2),
    "SCENARIO_METHOD": replace(CATCH, name=1, marks=2, least=2),
    "METHOD_AS_TEST_CASE": replace(CATCH, name=1, marks=2, least=2, body=False),
    "REGISTER_TEST_CASE": replace(CATCH, name=1, marks=2, least=2, body=False),
    "TEMPLATE_TEST_CASE": replace(CATCH, types=2, dynamic=True, least=3),
    "TEMPLATE_TEST_CASE_SIG": replace(CATCH, types=3, dynamic=True, least=3),
    "TEMPLATE_PRODUCT_TEST_CASE": replace(CATCH, dynamic=True, least=3),
    "TEMPLATE_PRODUCT_TEST_CASE_SIG": replace(CATCH, dynamic=True, least=3),
    "TEMPLATE_LIST_TEST_CASE": replace(CATCH, dynamic=True, least=3),
    "TEMPLATE_TEST_CASE_METHOD": replace(CATCH, name=1, marks=2, types=3, dynamic=True, least=3),
    "TEMPLATE_TEST_CASE_METHOD_SIG": replace(CATCH, name=1, marks=2, types=4, dynamic=True, least=3),
    "TEMPLATE_PRODUCT_TEST_CASE_METHOD": replace(CATCH, name=1, marks=2, dynamic=True, least=3),
    "TEMPLATE_PRODUCT_TEST_CASE_METHOD_SIG": replace(CATCH, name=1, marks=2, dynamic=True, least=3),
    "TEMPLATE_LIST_TEST_CASE_METHOD": replace(CATCH, name=1, marks=2, dynamic=True, least=3),
}

_DOCTEST: Final = {
    "TEST_CASE_FIXTURE": replace(DOCTEST, name=1, marks=1, least=2),
    "TEST_CASE_CLASS": DOCTEST,
    "MPI_TEST_CASE": replace(DOCTEST, least=2),
    "SCENARIO_CLASS": DOCTEST,
    "TEST_CASE_TEMPLATE": replace(DOCTEST, types=2, dynamic=True, least=2),
    "TEST_CASE_TEMPLATE_DEFINE": replace(DOCTEST, dynamic=True, least=3),
    "SCENARIO_TEMPLATE": replace(DOCTEST, types=2, dynamic=True, least=2),
    "SCENARIO_TEMPLATE_DEFINE": replace(DOCTEST, dynamic=True, least=3),
}

_BOOST: Final = {
    "BOOST_AUTO_TEST_CASE": BOOST,
    "BOOST_FIXTURE_TEST_CASE": replace(BOOST, marks=2, least=2),
    "BOOST_AUTO_TEST_CASE_TEMPLATE": replace(BOOST, marks=None, dynamic=True, least=3),
    "BOOST_FIXTURE_TEST_CASE_TEMPLATE": replace(BOOST, marks=None, dynamic=True, least=4),
    "BOOST_DATA_TEST_CASE": replace(BOOST, marks=None, dynamic=True, least=2),
    "BOOST_DATA_TEST_CASE_F": replace(BOOST, name=1, marks=None, dynamic=True, least=3),
    "BOOST_TEST_CASE_TEMPLATE_FUNCTION": replace(BOOST, marks=None, dynamic=True, least=2),
    "BOOST_TEST_CASE": replace(BOOST, marks=None, body=False),
    "BOOST_TEST_CASE_NAME": replace(BOOST, name=1, marks=None, body=False, least=2),
    "BOOST_CLASS_TEST_CASE": replace(BOOST, marks=None, body=False, least=2),
    "BOOST_PARAM_TEST_CASE": replace(BOOST, marks=None, dynamic=True, body=False, least=3),
    "BOOST_PARAM_CLASS_TEST_CASE": replace(BOOST, marks=None, dynamic=True, body=False, least=4),
}


def _table() -> Iterator[tuple[str, Macro]]:
    """With the prefixes that libraries offer against clashes, which settle whose a macro is."""
    yield from (_GTEST | _EITHER | _CATCH | _DOCTEST | _BOOST).items()
    for name, macro in (_EITHER | _CATCH).items():
        yield f"CATCH_{name}", replace(macro, owner="catch2")
    for name, macro in (_EITHER | _DOCTEST).items():
        yield f"DOCTEST_{name}", replace(macro, owner="doctest", marks=0 if name in _EITHER else macro.marks)


#: macro -> how it is read
TESTS: Final[Mapping[str, Macro]] = dict(_table())

#: macros of parts of a test, which are run as tests of their own inside it
_PARTS: Final = ("SECTION", "DYNAMIC_SECTION", "SUBCASE", "GIVEN", "WHEN", "THEN", "AND_GIVEN", "AND_WHEN", "AND_THEN")
PARTS: Final = frozenset(f"{prefix}{name}" for prefix in ("", "CATCH_", "DOCTEST_") for name in _PARTS)

#: suites that last until their end macro, the ends, and suites that are a block
OPENS: Final = frozenset(
    {"TEST_SUITE_BEGIN", "DOCTEST_TEST_SUITE_BEGIN", "BOOST_AUTO_TEST_SUITE", "BOOST_FIXTURE_TEST_SUITE"}
)
CLOSES: Final = frozenset({"TEST_SUITE_END", "DOCTEST_TEST_SUITE_END", "BOOST_AUTO_TEST_SUITE_END"})
BLOCKS: Final = frozenset({"TEST_SUITE", "DOCTEST_TEST_SUITE"})
DECORATES: Final = "BOOST_TEST_DECORATOR"
EXPECTS_FAILURES: Final = "BOOST_AUTO_TEST_CASE_EXPECTED_FAILURES"
INSTANTIATES: Final = frozenset(
    {"INSTANTIATE_TEST_SUITE_P", "INSTANTIATE_TEST_CASE_P", "INSTANTIATE_TYPED_TEST_SUITE_P",
     "INSTANTIATE_TYPED_TEST_CASE_P"}
)  # fmt: skip
#: what gtest's own macros are made of, and what some projects make theirs of
INNER: Final = "GTEST_TEST_"
#: names by which macros of a project show that they may stand for tests
PERHAPS: Final = re.compile(r"TEST|SCENARIO|CASE|SPEC")
