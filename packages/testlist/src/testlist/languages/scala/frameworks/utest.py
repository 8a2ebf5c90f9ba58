"""utest: what stands in `Tests {}`; a test that holds others is a group."""

import re
from typing import Final

from testlist.languages.scala.scope import framework
from testlist.languages.scala.vocabulary_dialects import Dialect

UTEST: Final = framework(
    "utest",
    Dialect(
        framework="utest",
        roots=re.compile(r"utest\.(?:\w+\.)*TestSuite"),
        package=re.compile(r"utest\b"),
        tests=frozenset({"test", "-"}),
        nests=True,
    ),
)
