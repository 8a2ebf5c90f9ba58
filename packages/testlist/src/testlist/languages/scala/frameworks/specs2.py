"""specs2: examples of mutable specifications, and lines of acceptance specifications that end with what is run.

What a group is called ends with its verb.  Examples that are built by other means than texts are not listed.
"""

import re
from typing import Final

from testlist.languages.scala.scope import framework
from testlist.languages.scala.vocabulary import GROUPS
from testlist.languages.scala.vocabulary_dialects import Dialect

SPECS2: Final = framework(
    "specs2",
    Dialect(
        framework="specs2",
        roots=re.compile(
            r"(?:org\.specs2\.|mutable\.)(?:\w+\.)*(?:Spec|Specification)\w*|(?:play\.api\.test\.)?PlaySpecification"
        ),
        package=re.compile(r"(?:.*\.)?specs2\b"),
        fills=True,
        tests=frozenset({"in", ">>", "!", "s2", "checkAll"}),
        many=frozenset({"checkAll"}),
        groups=frozenset(f"{word} {{}}" for word in GROUPS),
        nests=True,
        statuses={
            "=pending": "todo",
            "=todo": "todo",
            "=skipped": "skipped",
            "=pendingUntilFixed": "xfail",
        },
    ),
)
