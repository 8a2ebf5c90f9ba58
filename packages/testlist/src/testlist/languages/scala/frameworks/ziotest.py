"""ZIO Test: `test` in `suite` of specifications, with the aspects behind them that say whether a test runs."""

import re
from typing import Final

from testlist.languages.scala.scope import framework
from testlist.languages.scala.vocabulary_dialects import Dialect

ZIO_TEST: Final = framework(
    "zio-test",
    Dialect(
        framework="zio-test",
        roots=re.compile(r"zio\.test\.(?:\w+\.)*\w*(?:Spec|Runnable)\w*|ZIOSpec(?:Default)?|DefaultRunnableSpec"),
        package=re.compile(r"zio\.test\b"),
        tests=frozenset({"test", "testM"}),
        groups=frozenset({"suite", "suiteM", "suiteAll"}),
        statuses={"ignore": "skipped", "failing": "xfail"},
        conditions=re.compile(r"\w+Only|if\w+|except\w+|unix|windows|os"),
    ),
)
