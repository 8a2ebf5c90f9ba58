"""MUnit: `test("...")` in suites, also of fixtures, `property` of ScalaCheck suites and `checkAll` of Discipline."""

import re
from typing import Final

from testlist.languages.scala.scope import framework
from testlist.languages.scala.vocabulary_dialects import Dialect

MUNIT: Final = framework(
    "munit",
    Dialect(
        framework="munit",
        roots=re.compile(r"munit\.(?:\w+\.)*\w*Suite|(?:CatsEffect|ScalaCheck|Discipline|ScalaCheckEffect|ZIO)Suite"),
        package=re.compile(r"(?:.*\.)?munit\b"),
        tests=frozenset({"test", "property", "checkAll", "testZ"}),
        many=frozenset({"checkAll"}),
        receivers=True,
        statuses={
            "ignore": "skipped",
            "IgnoreSuite": "skipped",
            "pending": "todo",
            "only": "focused",
            "fail": "xfail",
        },
    ),
)
