"""GoogleTest: TEST, TEST_F, TEST_P, TYPED_TEST and TYPED_TEST_P, and macros of a project made of them.

Unit: one definition, whatever number of types or values it is run with.  `DISABLED_` before the name of a test, of
its suite, or of all instantiations of it skips it, and so does GTEST_SKIP as its first statement.
"""

from typing import Final

from testlist.languages.cpp.scope import framework

GTEST: Final = framework("gtest")
