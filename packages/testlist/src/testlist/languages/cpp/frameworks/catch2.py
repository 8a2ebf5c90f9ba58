"""Catch2: TEST_CASE, SCENARIO and their templates, in versions 1 to 3; sections are subtests.

Hidden tests (`[.]`) are skipped, since only who asks for them runs them; `[!shouldfail]` and `[!mayfail]` are xfail.
"""

from typing import Final

from testlist.languages.cpp.scope import framework

CATCH2: Final = framework("catch2")
