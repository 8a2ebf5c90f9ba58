"""Boost.Test: automatic, fixture, data and template cases, and cases that are registered by hand.

`disabled()` skips, also on a suite; `expected_failures(n)` and a number after the name are xfail.
"""

from typing import Final

from testlist.languages.cpp.scope import framework

BOOST_TEST: Final = framework("boost-test")
