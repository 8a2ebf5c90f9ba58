"""weaver: `test`, `pureTest` and `loggedTest` in suites, which are objects as a rule."""

import re
from typing import Final

from testlist.languages.scala.scope import framework
from testlist.languages.scala.vocabulary_dialects import Dialect

WEAVER: Final = framework(
    "weaver",
    Dialect(
        framework="weaver",
        roots=re.compile(r"weaver\.(?:\w+\.)*\w*Suite\w*|(?:Simple|Mutable|Global)?IOSuite|SimpleMutableIOSuite"),
        package=re.compile(r"weaver\b"),
        fills=True,
        tests=frozenset({"test", "pureTest", "loggedTest", "simpleTest", "property", "checkAll"}),
        many=frozenset({"checkAll"}),
        statuses={"ignore": "skipped", "=ignore": "skipped", "only": "focused"},
    ),
)
