"""ScalaTest: its styles, told apart by their words, as no two styles have the same words in the same places.

A test that several classes inherit counts once, where it is written, if some class that can be made without values
inherits it.  Objects are no suites.  A test is named as ScalaTest names it: `should` begins the names of those below.
"""

import re
from dataclasses import replace
from typing import Final

from testlist.languages.scala.scope import framework
from testlist.languages.scala.vocabulary import GROUPS
from testlist.languages.scala.vocabulary_dialects import NEVER, Dialect

NAME: Final = "scalatest"
STYLES: Final = r"(?:Fun|Flat|Word|Free|Prop|Feature)(?:Suite|Spec)(?:Like)?"
PATHS: Final = r"(?:org\.)?(?:scalatest|scalatestplus)\.(?:\w+\.)*"
STATUSES: Final = {
    "ignore": "skipped",
    "Ignore": "skipped",
    "=cancel": "skipped",
    "=pending": "todo",
    "=pendingUntilFixed": "xfail",
}
WORDS: Final = Dialect(
    framework=NAME,
    roots=re.compile(
        rf"{PATHS}(?:\w*{STYLES}|\w*Spec|\w*Suite)|(?:Fixture)?(?:Any|Async|FixtureAny|FixtureAsync){STYLES}"
    ),
    package=re.compile(r"(?:.*\.)?scalatest(?:plus)?\b"),
    kinds=frozenset({"class"}),
    tests=frozenset({"test", "it", "they", "ignore", "property", "scenario", "Scenario", "checkAll", "in", "is"}),
    groups=frozenset({"describe", "feature", "Feature", "- {}", "-", *(f"{word} {{}}" for word in GROUPS)}),
    many=frozenset({"checkAll"}),
    prefixes=True,
    statuses=STATUSES,
)
#: the style whose tests are methods with blanks in their names
METHODS: Final = replace(
    WORDS,
    roots=re.compile(rf"{PATHS}(?:refspec\.)?(?:fixture\.)?(?:Fixture)?(?:Ref)?Spec(?:Like)?"),
    package=NEVER,
    methods=re.compile(r" "),
)

SCALATEST: Final = framework(NAME, METHODS, WORDS)
