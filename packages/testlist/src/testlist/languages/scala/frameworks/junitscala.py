"""JUnit in Scala: annotated methods, and `test*` methods of classes whose bases end in a TestCase.

It has a name of its own, as `junit4` and `junit5` are frameworks of other languages.
"""

import re
from typing import Final

from testlist.languages.scala.scope import framework
from testlist.languages.scala.vocabulary_dialects import Dialect

NAME: Final = "junit-scala"
STATUSES: Final = {"Ignore": "skipped", "Disabled": "skipped"}
CONDITIONS: Final = re.compile(r"^(?:EnabledIf|EnabledOn|EnabledFor|DisabledIf|DisabledOn|DisabledFor)")

JUNIT_SCALA: Final = framework(
    NAME,
    Dialect(
        framework=NAME,
        kinds=frozenset({"class"}),
        fills=True,
        statuses=STATUSES,
        conditions=CONDITIONS,
        annotated=re.compile(
            r"(?!org\.testng\.)(?:\w+\.)+(?!VisibleFor)(?:\w*Test|ClusterTests|TestFactory|TestTemplate)"
        ),
        repeats=re.compile(r".+(?<!\.Test)"),
    ),
    Dialect(
        framework=NAME,
        roots=re.compile(r"(?:junit\.framework\.)TestCase"),
        kinds=frozenset({"class"}),
        statuses=STATUSES,
        methods=re.compile(r"^test"),
    ),
)
