"""doctest: TEST_CASE, SCENARIO and their templates; subcases are subtests, the innermost TEST_SUITE is the suite.

`skip()` skips, `should_fail()`, `may_fail()` and `expected_failures(n)` are xfail; those of a suite count as well.
"""

from typing import Final

from testlist.languages.cpp.scope import framework

DOCTEST: Final = framework("doctest")
