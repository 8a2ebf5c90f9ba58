"""ScalaCheck: `property("...") = ...` of Properties."""

import re
from typing import Final

from testlist.languages.scala.scope import framework
from testlist.languages.scala.vocabulary_dialects import Dialect

SCALACHECK: Final = framework(
    "scalacheck",
    Dialect(
        framework="scalacheck",
        roots=re.compile(r"org\.scalacheck\.Properties"),
        package=re.compile(r"org\.scalacheck\b"),
        tests=frozenset({"property", "propertyWithSeed"}),
    ),
)
